/**
 * Reads a file of sanctioned or politically exposed persons: CSV with a header row (such as the simple table of
 * OpenSanctions), OFAC's CSV, the XML of the European Union or of the United Nations, or JSON {source, version, entries}. The
 * file is read twice. The first pass checks every line and computes count and hash, so that a rejected file changes nothing.
 * The report counts every entry that is not imported, with its line. Only JSON files are held in memory (operator surface,
 * screening import; F26).
 */
import { createHash } from "node:crypto"
import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs"
import { type ListedPerson, personLine } from "../src/machines/screening/ListedPerson.ts"
import { maxEntries } from "../src/http/api/operator/ScreeningGroup.ts"
import { type FileReport, maxPlaces } from "../src/machines/screening/WatchImport.ts"
import { CliFailure, exitStatus } from "./CliIo.ts"
import { CsvError, CsvReader, type CsvRecord } from "./csv.ts"
import { europeanUnion } from "./listFormats/europeanUnionFormat.ts"
import type { FormatOptions, ListLine } from "./listFormats/ListLine.ts"
import { isOfac, ofacLine, ofacText, type OfacTexts } from "./listFormats/ofacFormat.ts"
import { type Persons, personsOf } from "./listFormats/personsOf.ts"
import { columnsOf, jsonLine, tableLine } from "./listFormats/tableFormat.ts"
import { unitedNations } from "./listFormats/unitedNationsFormat.ts"
import { XmlError, XmlReader } from "./listFormats/XmlReader.ts"
import { encodingOf, readText } from "./textFile.ts"

export interface ListOptions extends FormatOptions {
  readonly source?: string
  readonly version?: string
  /** How many lines without a readable name the import may leave out; 0 by default. */
  readonly badLines?: number
}

export interface ListFile {
  readonly source: string
  readonly version: string
  readonly count: number
  /** Chained over the entries in order, exactly as the service computes it. */
  readonly hash: string
  /** The parts of the file that the import leaves out. */
  readonly report: FileReport
  /** Reads the entries a second time, in pieces of at most `size`. */
  readonly pieces: (size: number) => AsyncGenerator<ReadonlyArray<ListedPerson>>
}

/** At most this many lines with errors are shown. */
const mostErrors = 20

/** Largest file that is held in memory, bytes: JSON, and OFAC's further files. */
const largestHeld = 64 * 1_048_576

/** Reads and checks the whole file. Rejects with a CliFailure that names the faulty lines and fields. */
export const readListFile = async (path: string, options: ListOptions): Promise<ListFile> => {
  const start = startOf(path)
  const document = /\.json$/i.test(path) || start.startsWith("{") ? jsonDocument(path) : null
  const source = options.source ?? textOf(document?.["source"])
  const version = options.version ?? textOf(document?.["version"])
  if (source === undefined) throw usage("Name the publisher of the list with --source.")
  if (version === undefined) throw usage("Name the version of the list with --version.")
  const further = await furtherTexts(options)
  const lines = () => {
    if (document !== null) return jsonLines(document, options)
    return /\.xml$/i.test(path) || start.startsWith("<") ? xmlLines(path, options) : csvLines(path, options, further)
  }
  return {
    source,
    version,
    ...(await checked(lines(), options.badLines ?? 0)),
    pieces: (size) => piecesOf(lines(), size)
  }
}

const checked = async (
  lines: AsyncIterable<ListLine>,
  mostBad: number
): Promise<Pick<ListFile, "count" | "hash" | "report">> => {
  const errors: Record<string, string> = {}
  const [badLines, unreadAt]: [Array<string>, Array<string>] = [[], []]
  let [count, hash, notPersons, unread, bad, wrong] = [0, "", 0, 0, 0, 0]
  for await (const line of lines) {
    const found = line.kind === "entry" ? personsOf(line.entry) : line
    if (found.kind === "notPerson") notPersons += 1
    else if (found.kind === "persons") {
      count += found.persons.length
      for (const person of found.persons) hash = chained(hash, person)
      unread += found.unread.length
      for (const field of found.unread) if (unreadAt.length < maxPlaces) unreadAt.push(`${line.place}, ${field}`)
    } else {
      if (found.kind === "bad") bad += 1
      else wrong += 1
      badLines.push(line.place)
      if (bad > mostBad || wrong > 0) errors[line.place] = found.sentence
      if (bad + wrong >= mostBad + mostErrors) break
    }
  }
  if (wrong > 0) throw usage("The file has errors: nothing was imported.", errors)
  if (bad > mostBad) {
    const sentence = `More lines than --bad-lines ${mostBad} allows have no name that can be read: nothing was imported.`
    throw usage(sentence, errors)
  }
  if (count === 0) throw usage("The file has no entries.")
  if (count > maxEntries) throw usage(`The file has ${count} entries: an import takes ${maxEntries} at most.`)
  return { count, hash, report: { notPersons, badLines, unread, unreadAt } }
}

const chained = (hash: string, person: ListedPerson): string =>
  createHash("sha256")
    .update(`${hash}\n${personLine(person)}`)
    .digest("hex")

async function* piecesOf(lines: AsyncIterable<ListLine>, size: number): AsyncGenerator<ReadonlyArray<ListedPerson>> {
  let piece: Array<ListedPerson> = []
  for await (const line of lines) {
    if (line.kind === "wrong") throw changed()
    const found: Persons | null = line.kind === "entry" ? personsOf(line.entry) : null
    for (const person of found?.kind === "persons" ? found.persons : []) {
      piece.push(person)
      if (piece.length < size) continue
      yield piece
      piece = []
    }
  }
  if (piece.length > 0) yield piece
}

const changed = (): CliFailure => usage("The file has changed since it was checked.")

/** The texts of OFAC's further files; null for a file that the options do not name. */
interface FurtherTexts {
  readonly alternateNames: OfacTexts | null
  readonly comments: OfacTexts | null
}

const furtherTexts = async (options: ListOptions): Promise<FurtherTexts> => ({
  alternateNames: await furtherFile("alternateNames", options.alternateNames),
  comments: await furtherFile("comments", options.comments)
})

const furtherFile = async (kind: keyof FurtherTexts, path: string | undefined): Promise<OfacTexts | null> => {
  if (path === undefined) return null
  const option = kind === "alternateNames" ? "--alternate-names" : "--comments"
  const texts = new Map<string, Array<string>>()
  try {
    checkHeld(path)
    for await (const { line, fields } of csvRecords(path)) {
      const found = ofacText(kind, fields)
      if (found === null) throw new CsvError(line, "This line is not a record of an SDN file of OFAC.")
      const [entry, text] = found
      const known = texts.get(entry)
      if (known === undefined) texts.set(entry, [text])
      else known.push(text)
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw unreadable(error)
    throw usage(`The file of ${option} can't be read: nothing was imported.`, { [`line ${error.line}`]: error.message })
  }
  return texts
}

async function* csvLines(path: string, options: ListOptions, further: FurtherTexts): AsyncGenerator<ListLine> {
  let columns: Exclude<ReturnType<typeof columnsOf>, string> | null = null
  let read: ((place: string, record: CsvRecord) => ListLine) | null = null
  const named = new Set<string>()
  try {
    for await (const record of csvRecords(path)) {
      const { line, fields } = record
      const place = `line ${line}`
      if (read === null && isOfac(fields)) {
        const { alternateNames, comments } = further
        if (alternateNames === null) {
          const sentence = "OFAC has the alternate names in a file of their own: name it with --alternate-names."
          return yield { place, kind: "wrong", sentence }
        }
        read = (at, { fields: each }) => {
          named.add(each[0] ?? "")
          return ofacLine(at, each, options, alternateNames, comments)
        }
      }
      if (read !== null) {
        yield read(place, record)
        continue
      }
      if (columns === null) {
        const found = columnsOf(fields)
        if (typeof found === "string") return yield { place, kind: "wrong", sentence: found }
        columns = found
        continue
      }
      yield tableLine(place, columns, fields, options)
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw unreadable(error)
    return yield { place: `line ${error.line}`, kind: "wrong", sentence: error.message }
  }
  const { alternateNames, comments } = further
  const other = [...(alternateNames?.keys() ?? []), ...(comments?.keys() ?? [])].find((entry) => !named.has(entry))
  if (other !== undefined) {
    const sentence = `The further files of OFAC have entry ${other}, which this file has not: all must be of one day.`
    yield { place: "the end", kind: "wrong", sentence }
  }
}

async function* xmlLines(path: string, options: ListOptions): AsyncGenerator<ListLine> {
  try {
    const reader = new XmlReader([europeanUnion, unitedNations])
    for await (const text of textPieces(path)) {
      for (const { format, element } of reader.read(text)) yield format.lineOf(element, options)
    }
    for (const { format, element } of reader.end()) yield format.lineOf(element, options)
  } catch (error) {
    if (!(error instanceof XmlError)) throw unreadable(error)
    yield { place: `line ${error.line}`, kind: "wrong", sentence: error.message }
  }
}

/** All records that are not blank. The end-of-file mark (1A) of old systems is removed from the last one. */
async function* csvRecords(path: string): AsyncGenerator<CsvRecord> {
  const reader = new CsvReader()
  const filled = (records: ReadonlyArray<CsvRecord>) =>
    records.filter(({ fields }) => fields.length > 1 || (fields[0] !== "" && fields[0] !== "\u001a"))
  for await (const text of textPieces(path)) yield* filled(reader.read(text))
  yield* filled(reader.end())
}

async function* textPieces(path: string): AsyncGenerator<string> {
  const decode = decoderOf(firstBytes(path))
  for await (const bytes of createReadStream(path)) yield decode(bytes as Buffer)
  yield decode()
}

/** Makes a decoder for the pieces of a file that begins with these bytes. A call without a piece ends the file. */
const decoderOf = (start: Uint8Array): ((bytes?: Uint8Array) => string) => {
  const encoding = encodingOf(start)
  const decoder = newDecoder(encoding)
  return (bytes) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw usage(`The file is not ${encoding.toUpperCase()} text.`)
    }
  }
}

const newDecoder = (encoding: string) => {
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch {
    throw usage(`The file declares the encoding ${JSON.stringify(encoding)}, which is not known: convert it to UTF-8.`)
  }
}

/** The first characters of a file, without white space and byte order mark. */
const startOf = (path: string): string => {
  const bytes = firstBytes(path)
  return decoderOf(bytes)(bytes).trimStart()
}

const firstBytes = (path: string): Uint8Array => {
  try {
    const file = openSync(path, "r")
    try {
      const bytes = Buffer.alloc(512)
      return bytes.subarray(0, readSync(file, bytes))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw unreadable(error)
  }
}

const checkHeld = (path: string): void => {
  if (statSync(path).size > largestHeld)
    throw usage(`The file ${path} is too large: at most 64 MiB can be read at once.`)
}

const documentMembers: ReadonlyArray<string> = ["source", "version", "entries"]

const jsonDocument = (path: string): Readonly<Record<string, unknown>> => {
  let document: unknown
  try {
    checkHeld(path)
    document = JSON.parse(readText(path))
  } catch (error) {
    if (error instanceof SyntaxError) throw usage("The file is not JSON.")
    throw unreadable(error)
  }
  if (!isObject(document) || !Array.isArray(document["entries"])) {
    throw usage("The file must be an object with a list called entries.")
  }
  const unknown = Object.keys(document).find((member) => !documentMembers.includes(member))
  if (unknown !== undefined) {
    throw usage(`The member ${JSON.stringify(unknown.slice(0, 100))} is not known: take it out of the file.`)
  }
  return document
}

// Yields the entries of a JSON file. It is asynchronous so that it has the same type as the reader of CSV files.
async function* jsonLines(document: Readonly<Record<string, unknown>>, options: ListOptions): AsyncGenerator<ListLine> {
  for (const [index, entry] of (document["entries"] as ReadonlyArray<unknown>).entries()) {
    const place = `entries.${index}`
    if (isObject(entry)) yield jsonLine(place, entry, options)
    else yield { place, kind: "wrong", sentence: "An entry must be an object." }
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
    return usage("The file is not UTF-8 or UTF-16 text.")
  }
  return usage("The file can't be read.")
}
