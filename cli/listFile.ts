/**
 * A published list as a file: CSV with a header row (name, dob, country, list; other columns are left alone) or JSON
 * {source, version, entries: [{name, dob?, country?, list?, aliases?}]}. It is read twice: the first time to check every
 * line and to work out number and hash, so that a file with an error changes nothing (operator surface, screening import;
 * F26). A CSV file needs no memory for its length.
 */
import { createHash } from "node:crypto"
import { createReadStream, readFileSync } from "node:fs"
import {
  cleanPerson,
  type ListedPerson,
  personErrors,
  personLine,
  type RawPerson
} from "../src/machines/screening/ListedPerson.ts"
import { CliFailure, exitStatus } from "./CliIo.ts"
import { CsvError, CsvReader } from "./csv.ts"

export interface ListOptions {
  readonly list?: string
  readonly source?: string
  readonly version?: string
}

export interface ListFile {
  readonly source: string
  readonly version: string
  readonly count: number
  /** Chained over the entries in their order, as the service does it. */
  readonly hash: string
  /** The entries once more, in pieces of at most `size`. */
  readonly pieces: (size: number) => AsyncGenerator<ReadonlyArray<ListedPerson>>
}

/** A line as found: where it is, and what it says or what can't be read in it. */
type Found = { readonly place: string; readonly person: RawPerson } | { readonly place: string; readonly wrong: string }

/** Lines with errors that are shown. */
const mostErrors = 20

/** Reads and checks the whole file. Rejects with a CliFailure that names every line and field. */
export const readListFile = async (path: string, options: ListOptions): Promise<ListFile> => {
  const document = /\.json$/i.test(path) ? jsonDocument(path) : null
  const source = options.source ?? textOf(document?.["source"])
  const version = options.version ?? textOf(document?.["version"])
  if (source === undefined) throw usage("Name who publishes the list with --source.")
  if (version === undefined) throw usage("Name the version of the list with --version.")
  const lines = () => (document === null ? csvLines(path, options) : jsonLines(document, options))
  const { count, hash } = await checked(lines())
  return { source, version, count, hash, pieces: (size) => piecesOf(lines(), size) }
}

const checked = async (lines: AsyncIterable<Found>): Promise<{ readonly count: number; readonly hash: string }> => {
  const errors: Record<string, string> = {}
  let [count, hash, wrongLines] = [0, "", 0]
  for await (const found of lines) {
    const wrong = wrongIn(found)
    if (wrong === null && "person" in found) {
      count += 1
      hash = createHash("sha256")
        .update(`${hash}\n${personLine(cleanPerson(found.person) as ListedPerson)}`)
        .digest("hex")
      continue
    }
    for (const [field, sentence] of Object.entries(wrong ?? {})) errors[`${found.place}${field}`] = sentence
    wrongLines += 1
    if (wrongLines === mostErrors) break
  }
  if (wrongLines > 0) throw usage("The file has errors: nothing was imported.", errors)
  if (count === 0) throw usage("The file has no entries.")
  return { count, hash }
}

const wrongIn = (found: Found): Readonly<Record<string, string>> | null => {
  if ("wrong" in found) return { "": found.wrong }
  const errors = personErrors(cleanPerson(found.person))
  if (errors === null) return null
  return Object.fromEntries(Object.entries(errors).map(([field, sentence]) => [`, ${field}`, sentence]))
}

async function* piecesOf(lines: AsyncIterable<Found>, size: number): AsyncGenerator<ReadonlyArray<ListedPerson>> {
  let piece: Array<ListedPerson> = []
  for await (const found of lines) {
    if ("wrong" in found) throw usage("The file has changed since it was checked.")
    piece.push(cleanPerson(found.person) as ListedPerson)
    if (piece.length < size) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

async function* csvLines(path: string, { list }: ListOptions): AsyncGenerator<Found> {
  let columns: ReadonlyArray<string> | null = null
  try {
    for await (const { line, fields } of csvRecords(path)) {
      if (fields.length === 1 && fields[0] === "") continue
      const place = `line ${line}`
      if (columns === null) {
        columns = fields.map((name) => name.trim().toLowerCase())
        if (!columns.includes("name")) return yield { place, wrong: "The header row must have a column called name." }
        continue
      }
      if (fields.length !== columns.length) {
        yield { place, wrong: `There must be ${columns.length} fields, as in the header row.` }
        continue
      }
      const of = (column: string): string => fields[columns?.indexOf(column) ?? -1] ?? ""
      yield {
        place,
        person: { name: of("name"), dob: of("dob"), country: of("country"), list: of("list") || list || "" }
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw unreadable(error)
    yield { place: `line ${error.line}`, wrong: error.message }
  }
}

async function* csvRecords(path: string) {
  const reader = new CsvReader()
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  for await (const bytes of createReadStream(path))
    yield* reader.read(decoder.decode(bytes as Buffer, { stream: true }))
  yield* reader.read(decoder.decode())
  yield* reader.end()
}

const jsonDocument = (path: string): Readonly<Record<string, unknown>> => {
  let document: unknown
  try {
    document = JSON.parse(readFileSync(path, "utf8"))
  } catch (error) {
    if (error instanceof SyntaxError) throw usage("The file is not JSON.")
    throw unreadable(error)
  }
  if (!isObject(document) || !Array.isArray(document["entries"])) {
    throw usage("The file must be an object with a list called entries.")
  }
  return document
}

// Asynchronous like the lines of a CSV file, though the document is in memory.
async function* jsonLines(document: Readonly<Record<string, unknown>>, { list }: ListOptions): AsyncGenerator<Found> {
  for (const [index, entry] of (document["entries"] as ReadonlyArray<unknown>).entries()) {
    const place = `entries.${index}`
    if (!isObject(entry)) {
      yield { place, wrong: "An entry must be an object." }
      continue
    }
    const names = [entry["name"], ...(Array.isArray(entry["aliases"]) ? (entry["aliases"] as Array<unknown>) : [])]
    const others = [entry["dob"] ?? "", entry["country"] ?? "", entry["list"] ?? list ?? ""]
    const [dob, country, ownList] = others
    const isText = [...names, ...others].every((value) => typeof value === "string")
    if (!isText || !Array.isArray(entry["aliases"] ?? [])) {
      yield { place, wrong: "name, dob, country and list must be texts, aliases a list of texts." }
      continue
    }
    for (const name of names as ReadonlyArray<string>) {
      yield { place, person: { name, dob: dob as string, country: country as string, list: ownList as string } }
    }
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const usage = (sentence: string, errors?: Readonly<Record<string, string>>): CliFailure =>
  new CliFailure(exitStatus.usage, {
    code: 4000,
    msg: sentence,
    error: sentence,
    ...(errors === undefined ? {} : { data: { errors } })
  })

const unreadable = (error: unknown): Error => {
  if (error instanceof CliFailure) return error
  if ((error as { readonly code?: string }).code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
    return usage("The file is not UTF-8 text.")
  }
  return usage("The file can't be read.")
}
