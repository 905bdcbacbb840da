/** The units of an age, largest first. An age is shown in its largest unit: 45s, 12m, 3h, 4d, 9y. */
const units = [
  ["y", 365 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000]
] as const

/** The age of `millis` as text; negative ages count as zero. */
export const age = (millis: number): string => {
  for (const [unit, length] of units) if (millis >= length) return `${Math.floor(millis / length)}${unit}`
  return `${Math.max(0, Math.floor(millis / 1_000))}s`
}

/** A duration in its two largest units: 45s, 1h 35m, 4y 364d. */
export const span = (millis: number): string => {
  const at = units.findIndex(([, length]) => millis >= length)
  const [unit, length] = units[at] ?? ["s", 1_000]
  const [smaller, part] = units[at + 1] ?? ["s", 1_000]
  const whole = `${Math.max(0, Math.floor(millis / length))}${unit}`
  const rest = at === -1 ? 0 : Math.floor((millis % length) / part)
  return rest === 0 ? whole : `${whole} ${rest}${smaller}`
}
