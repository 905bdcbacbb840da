/**
 * The webhook receiver of the demo, which runs beside `serve --sandbox --demo` on a terminal. It registers with the demo's
 * key and prints signed events as they arrive, so that the pasted curl lines show the events that a partner receives. Port
 * and secret are new at each start. If the receiver fails, the service runs without it.
 */
import { Effect, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { listenAsPartner } from "../simulator/partner/listenAsPartner.ts"
import { receiverTls } from "./receiverTls.ts"
import { demoDeliveryLine } from "./views/deliveryLine.ts"

export interface DemoReceiverOptions {
  /** URL of the running service. */
  readonly url: string
  /**
   * Path of the authority that signed the service's certificate. Null when the service has its own certificate, which the
   * system must trust.
   */
  readonly caFile: string | null
  readonly dataDir: string
  /** The demo partner's key. */
  readonly key: string
  readonly print: (text: string) => void
}

/** Receives and prints events until interrupted. */
export const demoReceiver = ({ url, caFile, dataDir, key, print }: DemoReceiverOptions): Effect.Effect<void> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* listenAsPartner({
        url,
        key: Redacted.make(key),
        ...(caFile === null ? {} : { ca: readFileSync(caFile, "utf8") }),
        tls: yield* receiverTls(dataDir, null),
        port: 0,
        onDelivery: (delivery) => print(demoDeliveryLine(delivery))
      })
      print("Webhooks of the partner, received here, signature checked:")
      return yield* Effect.never
    })
  ).pipe(Effect.catch((error) => Effect.sync(() => print(`\nThe demo runs without webhooks: ${sentenceOf(error)}`))))

const sentenceOf = (error: {
  readonly message: string
  readonly sentence?: string
  readonly answer?: unknown
}): string => {
  const msg = (error.answer as { readonly msg?: unknown } | null | undefined)?.msg
  return error.sentence ?? (typeof msg === "string" ? msg : "the service did not take the registration.")
}
