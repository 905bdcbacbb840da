/**
 * The gates of the direct API. The route is found first, because a public route needs no credential, but an unknown path is
 * refused only after the credential: without one it answers 401 (DIR-4).
 */
import { Effect } from "effect"
import { directDocumentPath, directPrefix } from "../api/direct/DirectApi.ts"
import { rateLimits } from "../../machines/shared/Limits.ts"
import { directRefusals, gateRefusals } from "../../machines/shared/wireRefusal.ts"
import { type DirectPrincipal, principalOfVisitor } from "../../runtime/services/partners/Principal.ts"
import { edgeCapGate, type Gate, type Surface, verbGate } from "./gates.ts"
import { AddressWindows } from "./RateWindows.ts"
import { declaredLength } from "./readBody.ts"
import { type RouteTable, under } from "./routes.ts"
import { sourceAddress } from "./sourceAddress.ts"
import { networkOf } from "./VisitorLimits.ts"

export interface DirectGateServices {
  readonly routes: RouteTable
  /** The windows of callers without a credential. */
  readonly visitors: AddressWindows
  /** Addresses and ranges of the operator's own edge hosts. */
  readonly edgeHosts: ReadonlyArray<string>
}

type DirectGate = Gate<DirectPrincipal, DirectGateServices>

const findRoute: DirectGate = (exchange, { routes }) => {
  exchange.match = routes.match(exchange.method, exchange.path)
  return null
}

/** A public route admits any caller, whatever credential it sends, within the window of its address. */
const visitorGate: DirectGate = (exchange, { visitors, edgeHosts }) => {
  const { match, request, now } = exchange
  if (match?.route.isPublic !== true) return directRefusals.unauthorized
  const { headers, socket } = request
  const network = networkOf(sourceAddress(socket.remoteAddress, headers["x-forwarded-for"], edgeHosts))
  exchange.rate = visitors.hit(network, now)
  if (!exchange.rate.allowed) return gateRefusals.rateLimited
  exchange.principal = principalOfVisitor(network)
  return null
}

/** The gates of the direct API, in their order. */
export const directGates: ReadonlyArray<DirectGate> = [
  ({ request }) => verbGate(request.method),
  ({ request }) => edgeCapGate(declaredLength(request)),
  findRoute,
  visitorGate
]

/** Whether the direct API answers a request target: all of its paths but that of its description, which is a page. */
export const isOfDirectApi = (url: string): boolean =>
  under(url, directPrefix) && url.split("?", 1)[0] !== directDocumentPath

/** The direct API, for callers without a credential. */
export const directSurface = (
  routes: RouteTable,
  { edgeHosts }: Pick<DirectGateServices, "edgeHosts">
): Surface<DirectPrincipal, DirectGateServices> => ({
  gates: directGates,
  services: { routes, visitors: new AddressWindows(rateLimits.publicPerMinute), edgeHosts },
  standing: () => null,
  owns: () => Effect.succeed(false)
})
