/** The figures that `watch` reads from the Prometheus text of `metrics` (operator surface). */

export interface Figures {
  /** Time of the read, monotonic ms. Rates are computed from two snapshots. */
  readonly at: number
  /** Values by name and labels as printed, such as `brokerage_webhook_deliveries{state="due"}`. */
  readonly values: ReadonlyMap<string, number>
}

export const readFigures = (text: string, at: number): Figures => ({
  at,
  values: new Map(
    text.split("\n").flatMap((line): ReadonlyArray<readonly [string, number]> => {
      const match = /^([a-z_]+(?:\{[^}]*\})?) (\S+)$/.exec(line)
      return match === null ? [] : [[match[1] ?? "", Number(match[2])]]
    })
  )
})

/** The figure, or null when this snapshot lacks it. */
export const figure = ({ values }: Figures, name: string): number | null => values.get(name) ?? null

/** Sum over all labels of a name. */
const sum = ({ values }: Figures, name: string): number =>
  [...values].reduce((total, [key, value]) => (key === name || key.startsWith(`${name}{`) ? total + value : total), 0)

/** Growth of a counter per second between two snapshots. Null without an earlier snapshot, or after a restart of the process. */
export const perSecond = (now: Figures, before: Figures | null, name: string): number | null => {
  if (before === null || now.at <= before.at) return null
  const grown = sum(now, name) - sum(before, name)
  return grown < 0 ? null : (grown * 1_000) / (now.at - before.at)
}

/** Figures that must be 0 but are not, as text: "postings_sum USDC 5". */
export const broken = ({ values }: Figures): ReadonlyArray<string> =>
  [...values].flatMap(([key, value]) => {
    const [, name = "", label = ""] = /^brokerage_([a-z_]+)(?:\{[a-z]+="([^"]*)"\})?$/.exec(key) ?? []
    return value !== 0 && invariants.has(name)
      ? [[name, label, String(value)].filter((each) => each !== "").join(" ")]
      : []
  })

const invariants: ReadonlySet<string> = new Set(["postings_sum", "custody_difference", "event_gaps", "unsealed_rows"])
