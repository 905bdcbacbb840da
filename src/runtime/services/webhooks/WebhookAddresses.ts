/**
 * Resolves a webhook's host and accepts only public addresses. The check runs at registration and before every attempt,
 * because a name may resolve differently later. Nothing is cached, and the sender connects to a checked address instead
 * of the name (A3-32).
 */
import { lookup, Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import { Context, Effect, Layer, Schema } from "effect"
import { Settings } from "../../Settings.ts"
import { isPublicAddress } from "./publicAddress.ts"

/** The host is not allowed or was not found. The partner sees the sentence, and the delivery log stores it. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  sentence: Schema.String
}) {}

export interface CheckedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Resolves a name to all its addresses. A name without addresses gives an error or an empty list. */
export type Resolve = (name: string) => Effect.Effect<ReadonlyArray<string>, unknown>

/** Internal and missing hosts get the same sentence, because two sentences would reveal which names exist internally. */
export const notPublic = "The url's host must be public: it has no address, or one that isn't."

/** Timeout of a resolution. It is part of the ten seconds of an attempt. */
const patience = "4 seconds"

export class WebhookAddresses extends Context.Service<
  WebhookAddresses,
  {
    /**
     * The current addresses of `host`. Refused if one of them is not public. The addresses of an exempt host are not
     * checked.
     */
    readonly check: (host: string) => Effect.Effect<ReadonlyArray<CheckedAddress>, AddressRefused>
    /** True for the hosts in --allow-webhook-host, on any port (sandbox only). */
    readonly isExempt: (host: string) => boolean
    readonly isPublic: (address: string) => boolean
  }
>()("brokerage/runtime/services/webhooks/WebhookAddresses") {
  /** The layer of this service; `resolve` replaces DNS in tests. */
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
 * Normalises a host as parseWebhookUrl does, also if an operator typed it: lower case, without brackets, port or
 * trailing dot.
 */
const plainHost = (host: string): string => {
  const url = `https://${isIP(host) === 6 ? `[${host}]` : host}`
  return (URL.canParse(url) ? new URL(url).hostname : host.toLowerCase()).replace(/^\[|\]$|\.$/g, "")
}

/**
 * Resolves names by queries to the name servers. The system's lookup would block one of four threads that the whole
 * process shares, so one partner's dead name server would delay all deliveries.
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

/** Resolves names by the system's lookup, which also knows the machine's own names. For hosts that the operator allowed. */
const systemLookup: Resolve = (name) =>
  Effect.map(
    Effect.tryPromise(() => lookup(name, { all: true })),
    (found) => found.map(({ address }) => address)
  )
