/** How the venue writes and reads its numbers: whole units of a decimal place here, decimal strings in their shortest form outside. */

/** The decimal places of USDC, and of rates of funding. */
export const moneyDecimals = 6
export const rateDecimals = 8

/** Whole units of a decimal place as a decimal text, without zeros at its end. */
export const textOf = (units: number | bigint, decimals: number): string => {
  if (units < 0) return `-${textOf(-units, decimals)}`
  const digits = String(units).padStart(decimals + 1, "0")
  let end = digits.length
  const point = end - decimals
  while (end > point && digits.charCodeAt(end - 1) === zero) end--
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
}

const zero = 48

const decimalText = /^(-?)(0|[1-9][0-9]{0,14})(?:\.([0-9]{1,12}))?$/

/** A decimal text, with a sign or without, as whole units of a decimal place; null when it is none or lies between two. */
export const amountOf = (text: string, decimals: number): bigint | null => {
  const match = decimalText.exec(text)
  if (match === null) return null
  const fraction = (match[3] ?? "").replace(/0+$/, "")
  if (fraction.length > decimals) return null
  const units = BigInt(`${match[2]}${fraction.padEnd(decimals, "0")}`)
  return match[1] === "-" ? -units : units
}

/** As `amountOf`, as a number; null also when it leaves exact integers. */
export const signedUnitsOf = (text: string, decimals: number): number | null => {
  const amount = amountOf(text, decimals)
  const units = Number(amount ?? Number.NaN)
  return Number.isSafeInteger(units) ? units : null
}
