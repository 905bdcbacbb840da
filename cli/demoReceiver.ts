/**
 * The webhook receiver of the demo, which runs beside `serve --sandbox --demo` on a terminal. It registers with the demo's
 * key and prints signed events as they arrive, so that the pasted curl lines show the events that a partner receives. Port
 * and secret are new at each start. If the receiver fails, the service runs without it.
 */
import { Effect, Redacted, Schedule } from "effect"
import { readFileSync } from "node:fs"
import { makePartnerClient } from "../simulator/partner/PartnerClient.ts"
import { readEndpoint, registerWebhook } from "../simulator/partner/registerWebhook.ts"
import { startWebhookReceiver } from "../simulator/partner/WebhookReceiver.ts"
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

/** The path of the receiver's address, by which `sim partner listen` recognises the endpoint that it gives back. */
export const demoPath = "/demo"

/** Interval at which the receiver checks that it still is the partner's endpoint. */
const checkInterval = "2 seconds"

/** Receives and prints events until interrupted. Prints when another endpoint replaces it, and when it receives again. */
export const demoReceiver = ({ url, caFile, dataDir, key, print }: DemoReceiverOptions): Effect.Effect<void> =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* makePartnerClient({
        origin: () => url,
        key: Redacted.make(key),
        connections: 1,
        ...(caFile === null ? {} : { ca: readFileSync(caFile, "utf8") })
      })
      const receiver = yield* startWebhookReceiver({
        tls: yield* receiverTls(dataDir, null),
        port: 0,
        path: demoPath,
        onDelivery: (delivery) => print(demoDeliveryLine(delivery))
      })
      const register = registerWebhook(client, receiver)
      yield* register
      print("Webhooks of the partner, received here, signature checked:")
      /** The time of this receiver's own registration; null until a check has read it. */
      let registeredAt: number | null = null
      const check = Effect.gen(function* () {
        const now = yield* readEndpoint(client)
        if (now === null || now.updatedAt === registeredAt) return
        const isOwn = now.active && now.url === receiver.url
        const wasRead = registeredAt !== null
        registeredAt = now.updatedAt
        if (!isOwn)
          return print(now.active ? `  webhooks go to ${now.url} now, not here` : "  webhooks are switched off")
        if (!wasRead) return
        // Another program registered this address again, so this receiver does not have the secret.
        yield* register
        registeredAt = null
        print("  webhooks come here again")
      })
      // A check without an answer is repeated: the service may be stopping, or the partner's key may be revoked.
      return yield* Effect.repeat(Effect.ignore(check), Schedule.spaced(checkInterval))
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
