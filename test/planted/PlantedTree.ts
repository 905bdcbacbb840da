/**
 * A copy of the whole tree with a planted noun: files of its own (`test/fixtures/plantedNoun/files`) and lines in
 * existing files (`edits.ts`). Each place can be left out and put back.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative, resolve } from "node:path"
import { commandEdits, edits, type Insertion } from "../fixtures/plantedNoun/edits.ts"

const project = resolve(import.meta.dirname, "../..")
const own = join(project, "test/fixtures/plantedNoun/files")

/** The copied folders, besides the files of the project's root. Other folders there do not belong to the tree. */
const folders = ["bench", "bin", "cli", "docs", "linters", "scripts", "simulator", "src", "test"]

/** False for installed packages: the copy has links to them. */
const isOfProject = (path: string): boolean => basename(path) !== "node_modules"

/** Stands for the number of the next migration in names and texts. */
const numberMark = "NNNN"

const filesUnder = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/** A text with inserted lines. An anchor that does not occur exactly once is an error, because the anchor has moved. */
export const withInsertions = (file: string, text: string, insertions: ReadonlyArray<Insertion>): string => {
  const lines = text.split("\n")
  for (const insertion of insertions) {
    const anchor = "after" in insertion ? insertion.after : insertion.before
    const at = lines.findIndex((line) => line.trim() === anchor)
    if (at < 0 || lines.findLastIndex((line) => line.trim() === anchor) !== at) {
      throw new Error(`${file} has not exactly one line: ${anchor}`)
    }
    lines.splice("after" in insertion ? at + 1 : at, 0, ...insertion.lines)
  }
  return lines.join("\n")
}

interface Place {
  /** The text without the noun; null: the file is the noun's own. */
  readonly before: string | null
  readonly planted: string
}

export class PlantedTree {
  readonly root: string
  readonly #number = nextMigration()
  readonly #places: ReadonlyMap<string, Place>

  private constructor(root: string, places: ReadonlyMap<string, Place>) {
    this.root = root
    this.#places = places
  }

  static make(): PlantedTree {
    const root = mkdtempSync(join(tmpdir(), "brokerage-planted-"))
    for (const entry of readdirSync(project, { withFileTypes: true })) {
      if (entry.isFile() || folders.includes(entry.name)) {
        cpSync(join(project, entry.name), join(root, entry.name), { recursive: true, filter: isOfProject })
      }
    }
    for (const packages of ["node_modules", "linters/node_modules"]) {
      symlinkSync(join(project, packages), join(root, packages))
    }
    const tree = new PlantedTree(root, placesOf())
    for (const path of tree.places) tree.#write(path, tree.#places.get(path)?.planted ?? null)
    return tree
  }

  /** A name or a text as in the tree: with the number of the migration. */
  actual(text: string): string {
    return text.replaceAll(numberMark, this.#number)
  }

  /** Every file that the noun adds or changes; the migration without its number. */
  get places(): ReadonlyArray<string> {
    return [...this.#places.keys()]
  }

  /** The text of the place with the noun, or without it. */
  planted(path: string): string {
    return this.#place(path).planted
  }

  /** Leaves out places while `work` runs. */
  async without<A>(paths: ReadonlyArray<string>, work: () => A | Promise<A>): Promise<A> {
    return this.changed(new Map(paths.map((path) => [path, this.#place(path).before])), work)
  }

  /** Replaces the texts of places while `work` runs; null: no file. */
  async changed<A>(texts: ReadonlyMap<string, string | null>, work: () => A | Promise<A>): Promise<A> {
    for (const [path, text] of texts) this.#write(path, text)
    try {
      return await work()
    } finally {
      for (const path of texts.keys()) this.#write(path, this.#place(path).planted)
    }
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }

  #place(path: string): Place {
    const place = this.#places.get(path)
    if (place === undefined) throw new Error(`nothing is planted in ${path}`)
    return place
  }

  #write(path: string, text: string | null): void {
    const full = join(this.root, this.actual(path))
    if (text === null) return rmSync(full)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, this.actual(text))
  }
}

const nextMigration = (): string => {
  const numbers = readdirSync(join(project, "src/runtime/migrations"))
    .filter((name) => /^\d{4}_/.test(name))
    .map((name) => Number(name.slice(0, 4)))
  return String(Math.max(...numbers) + 1).padStart(4, "0")
}

const placesOf = (): ReadonlyMap<string, Place> => {
  const brought = filesUnder(own).map((file): readonly [string, Place] => [
    file.replace(/\.txt$/, ""),
    { before: null, planted: readFileSync(join(own, file), "utf8") }
  ])
  const changed = Object.entries({ ...edits, ...commandEdits }).map(([file, insertions]): readonly [string, Place] => {
    const before = readFileSync(join(project, file), "utf8")
    return [file, { before, planted: withInsertions(file, before, insertions) }]
  })
  return new Map([...brought, ...changed])
}
