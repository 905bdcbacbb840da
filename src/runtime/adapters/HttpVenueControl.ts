/**
 * The controls of the simulated venue over HTTP (`VenueControlApi`): each command is sent once. Failures distinguish commands
 * that were certainly not sent from those that may have been done; an address with another kind of server gets its own error.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { VenueApi } from "../../venue/VenueApi.ts"
import type { VenueCommand } from "../../venue/VenueCommand.ts"
import { VenueControl, VenueControlError } from "../ports/VenueControl.ts"
import type { VenueConnection } from "../ports/VenueConnection.ts"

/** The timeout of a response. An advance of the clock has a longer one, because it is played event by event (C4). */
const usualLimit = "10 seconds"
const jumpLimit = "30 seconds"

export const layerHttpVenueControl = ({ url, key, ca }: VenueConnection): Layer.Layer<VenueControl> =>
  Layer.effect(
    VenueControl,
    Effect.map(makeClient(url, key), (client) =>
      VenueControl.of({
        attached: true,
        show: answered(client.control.show(), usualLimit, "reads"),
        command: (payload) => answered(client.control.command({ payload }), limitOf(payload), "writes")
      })
    )
  ).pipe(Layer.provide(NodeHttpClient.layerNodeHttpOptions(ca === null ? {} : { ca })))

const makeClient = (baseUrl: string, key: Redacted.Redacted) =>
  HttpApiClient.make(VenueApi, {
    baseUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(key))
  })

const limitOf = ({ type }: VenueCommand) => (type === "advance" ? jumpLimit : usualLimit)

const failed = (why: VenueControlError["why"], detail: string): Effect.Effect<never, VenueControlError> =>
  Effect.fail(new VenueControlError({ why, detail }))

/** The response, or the reason why there is none. */
const answered = <A, E>(
  call: Effect.Effect<A, E>,
  limit: typeof usualLimit | typeof jumpLimit,
  does: "reads" | "writes"
): Effect.Effect<A, VenueControlError> => {
  const away = does === "reads" ? "unreached" : "lost"
  return call.pipe(
    Effect.catch((error) => failureOf(error, away)),
    Effect.timeoutOrElse({ duration: limit, orElse: () => failed(away, `no answer within ${limit}`) })
  )
}

/** The members of an API client's failure that are used here. */
interface CallFailure {
  readonly _tag?: string
  readonly message?: string
  readonly reason?: {
    readonly cause?: unknown
    readonly response?: { readonly status: number }
  }
}

/** Errors before a connection is established: nothing has been sent. */
const unsent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"])

const failureOf = (error: unknown, away: "unreached" | "lost"): Effect.Effect<never, VenueControlError> => {
  const { _tag, message = "", reason } = error as CallFailure
  switch (_tag) {
    case "VenueBadRequest":
    case "VenueNotFound":
      return failed("refused", message)
    case "VenueClosed":
      return failed("closed", message)
    case "HttpClientError": {
      const status = reason?.response?.status
      if (status === 401 || status === 403) return failed("foreign", "it does not accept this service's key")
      if (status !== undefined) return failed("foreign", "it has no controls of this version")
      const code = codeOf(reason?.cause)
      const isUnsent = unsent.has(code) || code.includes("CERT") || code.includes("SIGNATURE")
      return failed(isUnsent ? "unreached" : away, code === "" ? "the connection failed" : code)
    }
    default:
      return failed("foreign", "it has no controls of this version")
  }
}

const codeOf = (cause: unknown): string => String((cause as { readonly code?: unknown } | undefined)?.code ?? "")
