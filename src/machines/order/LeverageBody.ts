/** The body of PUT and POST .../leverage: a client's choice of leverage in a market (doc 2, Leverage view; A2-50). */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { trimText } from "../shared/Text.ts"
import { leverageField, leverageLabel } from "./leverageField.ts"

const labels = { symbol: "The market symbol", leverage: leverageLabel, force: "Force" } as const

export const LeverageBody = Fields.objectOf(
  {
    symbol: Fields.text(labels.symbol, 40),
    leverage: leverageField,
    force: Schema.optionalKey(
      Fields.flag(labels.force).annotate({
        description:
          "Applies the change although it puts the account in a margin call or a close-out; false when not sent"
      })
    )
  },
  "The request body"
)

export interface LeverageBody {
  readonly symbol: string
  /** A whole number of at least 1; the cap is checked in its market. */
  readonly leverage: number
  readonly force: boolean
}

export type DecodedLeverage = { readonly ok: true; readonly body: LeverageBody } | BodyFaults

/** Checks a choice of leverage; refuses with 400 code 4000, as all bodies do. */
export const decodeLeverage = (body: unknown): DecodedLeverage =>
  judgeBody(body, labels, (raw, add) => {
    const decoded = decodeBody(raw, add)
    if (decoded === undefined) return undefined
    const { symbol, leverage, force = false } = decoded
    return { ok: true, body: { symbol: trimText(symbol), leverage, force } }
  })

const decodeBody = Fields.decoderOf(LeverageBody)

/** The sentence when a leverage is too high for a client in a market (400 code 4000); null when it is allowed. */
export const capSentence = (leverage: number, cap: number): string | null =>
  leverage <= cap ? null : `${leverageLabel} must be at most ${cap} in this market.`
