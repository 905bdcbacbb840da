/**
 * A market's grid of prices or quantities: every value is a whole number of steps, written with the step's decimal places.
 * Values are integers in units of the last decimal place, exact up to the largest safe integer (F2).
 */

export interface Grid {
  /** Decimal places of the step. */
  readonly decimals: number
  /** The step in units of the last place. */
  readonly step: number
}

/** A value on a grid: its units, and its text. */
export interface GridValue {
  readonly units: number
  readonly text: string
}

/** The grid of a step such as 0.1 or 5. Null when the step is zero or can't be represented exactly. */
export const gridOf = (step: string): Grid | null => {
  const shortest = step.includes(".") ? step.replace(/\.?0+$/, "") : step
  const point = shortest.indexOf(".")
  const decimals = point === -1 ? 0 : shortest.length - point - 1
  const units = Number(shortest.replace(".", ""))
  return Number.isSafeInteger(units) && units > 0 ? { decimals, step: units } : null
}

/** Parses an unsigned decimal text on a grid. Null when the value lies between two steps, or is too large to be exact. */
export const onGrid = (text: string, { decimals, step }: Grid): GridValue | null => {
  const written = writtenTo(text, decimals)
  if (written === null) return null
  const units = Number(decimals === 0 ? written : written.replace(".", ""))
  return Number.isSafeInteger(units) && units % step === 0 ? { units, text: written } : null
}

/** A decimal text in the form of its grid. A text off the grid, or without a grid, stays unchanged. */
export const writtenOn = (text: string, grid: Grid | null): string =>
  grid === null ? text : (onGrid(text, grid)?.text ?? text)

/** The number with exactly `decimals` places; null when it has more significant places. */
const writtenTo = (text: string, decimals: number): string | null => {
  const point = text.indexOf(".")
  const places = point === -1 ? 0 : text.length - point - 1
  if (places === decimals) return text
  if (places < decimals) return `${text}${point === -1 ? "." : ""}${"0".repeat(decimals - places)}`
  const end = point + 1 + decimals
  for (let at = end; at < text.length; at++) if (text.charCodeAt(at) !== zero) return null
  return text.slice(0, decimals === 0 ? point : end)
}

const zero = 48
