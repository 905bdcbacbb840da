/**
 * A strict reader of comma-separated values after RFC 4180: ambiguous text is an error that names its line. Records end with
 * CRLF or LF; quoted fields may contain commas, line breaks and doubled quotes. Input arrives in pieces, so memory grows with
 * the longest record, not with the file.
 */

/** One record and the line on which it begins, from 1. */
export interface CsvRecord {
  readonly line: number
  readonly fields: ReadonlyArray<string>
}

/** The text is not CSV, and the remaining text can't be read. */
export class CsvError extends Error {
  readonly line: number

  constructor(line: number, sentence: string) {
    super(sentence)
    this.line = line
  }
}

/** Limit on characters of one record, so that an unclosed quote does not swallow the rest of the file. */
const longestRecord = 1_048_576

type Place = "start" | "plain" | "quoted" | "closed"

export class CsvReader {
  #place: Place = "start"
  #field = ""
  #fields: Array<string> = []
  #line = 1
  #begins = 1
  /** True when the last piece ended with a carriage return, whose line feed may begin the next piece. */
  #returned = false
  #first = true
  /** The number of characters of the current record. */
  #length = 0
  readonly #separator: string

  constructor(separator = ",") {
    this.#separator = separator
  }

  /** Parses the next piece of text. Returns the records that end in it; throws a CsvError for text that is not CSV. */
  read(text: string): ReadonlyArray<CsvRecord> {
    const records: Array<CsvRecord> = []
    for (const character of this.#first ? text.replace(/^\ufeff/, "") : text) this.#take(character, records)
    if (text.length > 0) this.#first = false
    return records
  }

  /** The last record, if the text does not end with a line break. */
  end(): ReadonlyArray<CsvRecord> {
    if (this.#returned) throw new CsvError(this.#line, "A carriage return needs a line feed after it.")
    if (this.#place === "quoted") throw new CsvError(this.#begins, "A quoted field does not end.")
    const records: Array<CsvRecord> = []
    if (this.#place !== "start" || this.#fields.length > 0) this.#close(records)
    return records
  }

  #take(character: string, records: Array<CsvRecord>): void {
    this.#length += 1
    if (this.#length > longestRecord) throw new CsvError(this.#begins, "A record is too long.")
    if (this.#place === "quoted") return this.#takeQuoted(character)
    if (this.#returned && character !== "\n") {
      throw new CsvError(this.#line, "A carriage return needs a line feed after it.")
    }
    this.#returned = false
    if (character === "\n") {
      this.#close(records)
      this.#line += 1
      this.#begins = this.#line
    } else if (character === "\r") this.#returned = true
    else if (character === this.#separator) this.#next()
    else if (character === '"') this.#quote()
    else {
      if (this.#place === "closed") throw new CsvError(this.#line, "Nothing may follow a closing quote but a comma.")
      this.#place = "plain"
      this.#field += character
    }
  }

  #takeQuoted(character: string): void {
    if (character === '"') {
      this.#place = "closed"
      return
    }
    if (character === "\n") this.#line += 1
    this.#field += character
  }

  /** Handles a quote: it opens a field, or closes it, or doubles the quote before it. */
  #quote(): void {
    if (this.#place === "plain") throw new CsvError(this.#line, "A quote may stand in a quoted field only.")
    if (this.#place === "closed") this.#field += '"'
    this.#place = "quoted"
  }

  #next(): void {
    this.#fields.push(this.#field)
    this.#field = ""
    this.#place = "start"
  }

  #close(records: Array<CsvRecord>): void {
    this.#next()
    records.push({ line: this.#begins, fields: this.#fields })
    this.#fields = []
    this.#length = 0
  }
}

/** Renders records as CSV from which the reader gets equal records. */
export const writeCsv = (records: ReadonlyArray<ReadonlyArray<string>>): string =>
  records
    .map((fields) => `${fields.map((field) => (/[",\r\n]/.test(field) ? quoted(field) : field)).join(",")}\r\n`)
    .join("")

const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`
