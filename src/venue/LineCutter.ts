/** Cuts the bytes of one connection at line ends, for both sides of the venue's lines of JSON; holds at most one line. */

/** A line's text, or the beginning of a line beyond the limit. */
export interface Line {
  readonly text: string
  readonly whole: boolean
}

/** The number of characters that are kept of a line beyond the limit. */
const keptChars = 4_096

export class LineCutter {
  private readonly limit: number
  private rest: Array<Buffer> = []
  private length = 0

  /** `limit`: the most bytes of a line. */
  constructor(limit: number) {
    this.limit = limit
  }

  cut(chunk: Buffer): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.keep(chunk.subarray(from, end))
      lines.push(this.line())
      from = end + 1
    }
    this.keep(chunk.subarray(from))
    return lines
  }

  /** Keeps only the beginning of a line beyond the limit. */
  private keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.length <= this.limit) this.rest.push(bytes)
    this.length += bytes.length
    if (this.length > this.limit) this.rest = [Buffer.concat(this.rest).subarray(0, keptChars)]
  }

  private line(): Line {
    const text = Buffer.concat(this.rest).toString("utf8")
    const whole = this.length <= this.limit
    this.rest = []
    this.length = 0
    return { text, whole }
  }
}
