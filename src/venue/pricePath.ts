/**
 * A price path as a file: a line `offsetMs,price` for each point, offsets in milliseconds of business time from the command,
 * rising; a header with these names may come first (operator surface, sim venue path).
 */
export interface PathPoint {
  readonly offsetMs: number
  readonly price: string
}

/** The first line that can't be read, counted from 1, with its fault. */
export interface PathError {
  readonly line: number
  readonly sentence: string
}

/** Limit on the points of one path. */
export const longestPath = 100_000
/** Limit on the characters of a path's file. */
export const longestPathText = 4_194_304

const header = "offsetMs,price"
const point = /^([0-9]{1,15}),((?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,12})?)$/

/** The points of a file's text, or its first fault. */
export const readPricePath = (text: string): ReadonlyArray<PathPoint> | PathError => {
  const points: Array<PathPoint> = []
  for (const [at, raw] of text
    .replace(/^\ufeff/, "")
    .split("\n")
    .entries()) {
    const line = raw.trim()
    if (line === "" || (at === 0 && line === header)) continue
    const error = (sentence: string): PathError => ({ line: at + 1, sentence })
    const [, offset, price = "0"] = point.exec(line) ?? []
    if (offset === undefined) return error("There must be milliseconds and a price, such as 1500,60000.5.")
    if (!/[1-9]/.test(price)) return error("The price must be more than zero.")
    const offsetMs = Number(offset)
    const last = points.at(-1)
    if (last !== undefined && offsetMs <= last.offsetMs) return error("The milliseconds must rise from line to line.")
    if (points.length === longestPath) return error(`A path has at most ${longestPath} points.`)
    points.push({ offsetMs, price })
  }
  return points.length === 0 ? { line: 1, sentence: `There must be a line ${header} for each point.` } : points
}
