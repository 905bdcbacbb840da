/**
 * Resolves a webhook's host and lets only public addresses through: at registration and again before every attempt,
 * because a name can resolve differently later. Nothing is cached, and the sender connects to a checked address, never
 * to the name (A3-32).
 */
import { lookup, Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import { Context, Effect, Layer, Schema } from "effect"
import { Settings } from "../../Settings.ts"
import { isPublicAddress } from "./publicAddress.ts"

/** The host is not allowed or not found. The sentence is shown to the partner and kept in the delivery log. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  sentence: Schema.String
}) {}

export interface CheckedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** All addresses of a name; an error or an empty list when it has none. */
export type Resolve = (name: string) => Effect.Effect<ReadonlyArray<string>, unknown>

/** One sentence for an internal host and for a missing one: two would reveal which names exist internally. */
export const notPublic = "The url's host must be public: it has no address, or one that isn't."

/** Timeout of a resolution, within the ten seconds of an attempt. */
const patience = "4 seconds"

export class WebhookAddresses extends Context.Service<
  WebhookAddresses,
  {
    /** The current addresses of `host`; refused when one of them is not public. An exempt host is only resolved. */
    readonly check: (host: string) => Effect.Effect<ReadonlyArray<CheckedAddress>, AddressRefused>
    /** True for the hosts in --allow-webhook-host, on any port (sandbox only). */
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
        const publicNames = options.resolve ?? queryNameServers()
        const exemptNames = options.resolve ?? systemLookup
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

/**
 * Normalizes a host as parseWebhookUrl does, also when an operator typed it: lower case, no brackets, port or trailing
 * dot.
 */
const plainHost = (host: string): string => {
  const url = `https://${isIP(host) === 6 ? `[${host}]` : host}`
  return (URL.canParse(url) ? new URL(url).hostname : host.toLowerCase()).replace(/^\[|\]$|\.$/g, "")
}

/**
 * Queries the name servers. The system's lookup blocks one of four threads shared by the whole process: one partner's
 * dead name server would delay all deliveries.
 */
const queryNameServers = (): Resolve => {
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

/** The system's lookup, which also knows the machine's own names: for hosts that the operator allowed. */
const systemLookup: Resolve = (name) =>
  Effect.map(
    Effect.tryPromise(() => lookup(name, { all: true })),
    (found) => found.map(({ address }) => address)
  )
