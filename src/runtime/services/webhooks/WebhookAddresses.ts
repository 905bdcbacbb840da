/**
 * Finds the addresses of a webhook's host and lets only public ones through: when the endpoint is registered and again
 * before every sending, because a name can be pointed elsewhere in between. Nothing is cached, and the sender connects to
 * an address that was checked, never to the name (doc 3, Webhook registration and delivery; A3-32).
 */
import { lookup, Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import { Context, Effect, Layer, Schema } from "effect"
import { Settings } from "../../Settings.ts"
import { isPublicAddress } from "./publicAddress.ts"

/** The host can't be sent to. The sentence is shown to the partner and kept in the delivery log. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  sentence: Schema.String
}) {}

export interface CheckedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** All addresses of a name; an error or an empty list when it has none. */
export type Resolve = (name: string) => Effect.Effect<ReadonlyArray<string>, unknown>

/** One sentence for an inside host and for one that does not exist: two would say which names exist inside. */
export const notPublic = "The url's host must be public: it has no address, or one that isn't."

/** Within the ten seconds a delivery attempt has. */
const patience = "4 seconds"

export class WebhookAddresses extends Context.Service<
  WebhookAddresses,
  {
    /** Where `host` is now; refused when any of it is not public. An exempt host is only resolved. */
    readonly check: (host: string) => Effect.Effect<ReadonlyArray<CheckedAddress>, AddressRefused>
    /** True for the hosts that --allow-webhook-host names, whatever their port (sandbox only). */
    readonly isExempt: (host: string) => boolean
    readonly isPublic: (address: string) => boolean
  }
>()("brokerage/runtime/services/webhooks/WebhookAddresses") {
  /** `resolve` replaces DNS in tests. */
  static readonly layer = (
    options: { readonly resolve?: Resolve } = {}
  ): Layer.Layer<WebhookAddresses, never, Settings> =>
    Layer.effect(
      WebhookAddresses,
      Effect.gen(function* () {
        const exempt = new Set([...(yield* Settings).webhookHosts].map(plainHost))
        const publicNames = options.resolve ?? askNameServers()
        const exemptNames = options.resolve ?? askSystem
        const isExempt = (host: string) => exempt.has(plainHost(host))
        const find = (host: string, resolve: Resolve) =>
          isIP(host) === 0
            ? resolve(host).pipe(
                Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed([]) }),
                Effect.orElseSucceed((): ReadonlyArray<string> => [])
              )
            : Effect.succeed([host])
        return WebhookAddresses.of({
          isExempt,
          isPublic: isPublicAddress,
          check: (given) =>
            Effect.gen(function* () {
              const host = plainHost(given)
              const free = isExempt(host)
              if (!free && /(^|\.)localhost$/.test(host)) return yield* new AddressRefused({ sentence: notPublic })
              const found = yield* find(host, free ? exemptNames : publicNames)
              const reachable = found.length > 0 && (free || found.every(isPublicAddress))
              if (!reachable) return yield* new AddressRefused({ sentence: notPublic })
              return found.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }) as const)
            })
        })
      })
    )
}

/** As parseWebhookUrl gives a host, also from what an operator types: lower case, no brackets, port or trailing dot. */
const plainHost = (host: string): string => {
  const url = `https://${isIP(host) === 6 ? `[${host}]` : host}`
  return (URL.canParse(url) ? new URL(url).hostname : host.toLowerCase()).replace(/^\[|\]$|\.$/g, "")
}

/**
 * Asks the name servers and not the system's lookup, which waits in one of four threads that all of the process shares:
 * one partner's dead name server would hold up everybody's deliveries.
 */
const askNameServers = (): Resolve => {
  const resolver = new Resolver({ timeout: 1_200, tries: 2 })
  const none = (): ReadonlyArray<string> => []
  return (name) =>
    Effect.map(
      Effect.all(
        [
          Effect.orElseSucceed(
            Effect.tryPromise(() => resolver.resolve4(name)),
            none
          ),
          Effect.orElseSucceed(
            Effect.tryPromise(() => resolver.resolve6(name)),
            none
          )
        ],
        { concurrency: 2 }
      ),
      ([v4, v6]) => [...v4, ...v6]
    )
}

/** The system's lookup, which also knows the machine's own names: for hosts that the operator named. */
const askSystem: Resolve = (name) =>
  Effect.map(
    Effect.tryPromise(() => lookup(name, { all: true })),
    (found) => found.map(({ address }) => address)
  )
