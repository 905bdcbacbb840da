/** Cuts the bytes of one connection at line ends, as both sides of the venue's lines of JSON do; holds at most one line. */

/** A line's text, or the beginning of one that was too long. */
export interface Line {
  readonly text: string
  readonly whole: boolean
}

/** Characters of a line that is too long that are kept. */
const keptChars = 4_096

export class LineCutter {
  private readonly limit: number
  private rest: Array<Buffer> = []
  private length = 0

  /** `limit`: bytes of a line at most. */
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

  /** Of a line that is too long its beginning is kept. */
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
