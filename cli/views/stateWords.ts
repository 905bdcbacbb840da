/** Formats states and facts of the audit, whose times are raw numbers; `--json` prints them as stored. */
import { span } from "./age.ts"
import { time, Words } from "./View.ts"

const rawTime = /(\buntil \d{12,15}\b|\b\d+ ms ahead\b)/

/** "BTC-USDC-PERP until 1795862029475" with a formatted time, "5727915 ms ahead" as "1h 35m ahead". */
export const stateWords = (state: string): Words =>
  new Words(
    state.split(rawTime).flatMap((part, index): Words["parts"] => {
      if (index % 2 === 0) return [part]
      const figure = Number(/\d+/.exec(part)?.[0])
      if (!part.startsWith("until")) return [`${span(figure)} ahead`]
      const moment = time(figure)
      return ["until ", moment]
    })
  )
