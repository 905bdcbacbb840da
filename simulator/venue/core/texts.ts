/** Converts the venue's numbers: whole units of a decimal place inside, shortest decimal strings outside. */

/** The decimal places of USDC, and of funding rates. */
export const moneyDecimals = 6
export const rateDecimals = 8

/** Whole units of a decimal place as a decimal text, without trailing zeros. */
export const textOf = (units: number | bigint, decimals: number): string => {
  if (units < 0) return `-${textOf(-units, decimals)}`
  const digits = String(units).padStart(decimals + 1, "0")
  let end = digits.length
  const point = end - decimals
  while (end > point && digits.charCodeAt(end - 1) === zero) end--
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
}

const zero = 48

/** A decimal text for readers: its whole digits in groups of three. */
export const groupedText = (text: string): string => {
  const [whole = "", ...places] = text.split(".")
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ","), ...places].join(".")
}

const decimalText = /^(-?)(0|[1-9][0-9]{0,14})(?:\.([0-9]{1,12}))?$/

/** A signed decimal text as whole units of a decimal place; null if it is malformed or off the grid. */
export const amountOf = (text: string, decimals: number): bigint | null => {
  const match = decimalText.exec(text)
  if (match === null) return null
  const fraction = (match[3] ?? "").replace(/0+$/, "")
  if (fraction.length > decimals) return null
  const units = BigInt(`${match[2]}${fraction.padEnd(decimals, "0")}`)
  return match[1] === "-" ? -units : units
}

/** Like `amountOf`, but returns a number; null also for a value that is no safe integer. */
export const signedUnitsOf = (text: string, decimals: number): number | null => {
  const amount = amountOf(text, decimals)
  const units = Number(amount ?? Number.NaN)
  return Number.isSafeInteger(units) ? units : null
}
