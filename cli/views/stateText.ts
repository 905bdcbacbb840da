/** Formats states and facts of the audit, which contain times as raw numbers; `--json` prints them as stored. */
import { span } from "./age.ts"
import { time, RichText } from "./View.ts"

interface Stated {
  readonly object: string | null
  readonly before: string | null
  readonly after: string | null
}

/**
 * The states of an audit row without the part that its object names already: the block `verificationBlock:5:PEP` has the
 * stored state "PEP EXPIRED".
 */
export const statesOf = (row: Stated): Pick<Stated, "before" | "after"> => {
  const code = row.object?.split(":")[2]
  const short = (state: string | null) =>
    code !== undefined && state?.startsWith(`${code} `) === true ? state.slice(code.length + 1) : state
  return { before: short(row.before), after: short(row.after) }
}

/** The change that an audit row records: state or fact before and after; empty without any. */
export const changeText = (row: Stated): RichText => {
  const { before, after } = statesOf(row)
  return stateText([before, after].filter((state) => state !== null).join(" -> "))
}

const rawTime = /(\buntil \d{12,15}\b|\b\d+ ms ahead\b)/

/** Formats the numbers: "BTC-USDC-PERP until 1795862029475" gets a formatted time, "5727915 ms ahead" becomes "1h 35m ahead". */
export const stateText = (state: string): RichText =>
  new RichText(
    state.split(rawTime).flatMap((part, index): RichText["parts"] => {
      if (index % 2 === 0) return [part]
      const figure = Number(/\d+/.exec(part)?.[0])
      if (!part.startsWith("until")) return [`${span(figure)} ahead`]
      const moment = time(figure)
      return ["until ", moment]
    })
  )
