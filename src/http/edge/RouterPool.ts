/**
 * The routers an edge may ask, and the connections kept to each. One is asked as long as it can be reached; then the next
 * one is, and the lost one is tried last until a while has passed (architecture 5 and 9: one writer, so the others are
 * there to take over, not to share).
 */
import { Agent } from "node:https"

export interface Router {
  readonly url: string
  readonly hostname: string
  readonly port: number
  /** For the Host header. */
  readonly host: string
  readonly agent: Agent
}

/** How long a router that could not be reached is tried last, milliseconds. */
const restMillis = 1_000
/** Idle connections kept to a router. Their number in use is bounded by the requests the edge takes on. */
const spareConnections = 256

/** A router's address: https, a host, perhaps a port, nothing else. Null when it is something else. */
export const parseRouterUrl = (text: string): URL | null => {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  const bare =
    url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === ""
  return url.protocol === "https:" && bare ? url : null
}

export class RouterPool {
  private readonly routers: ReadonlyArray<Router>
  private readonly lostAt = new Map<Router, number>()
  private current: Router

  /** `ca`: PEM text of the authority of the routers' certificates; null for the public ones. */
  constructor(urls: ReadonlyArray<URL>, ca: string | null) {
    this.routers = urls.map((url) => ({
      url: url.origin,
      hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port === "" ? 443 : Number(url.port),
      host: url.host,
      agent: new Agent({
        keepAlive: true,
        maxFreeSockets: spareConnections,
        scheduling: "lifo",
        minVersion: "TLSv1.2",
        ...(ca === null ? {} : { ca })
      })
    }))
    const [first] = this.routers
    if (first === undefined) throw new Error("a pool needs a router")
    this.current = first
  }

  /** Every router once, in the order to try them. `now`: wall milliseconds. */
  order(now: number): ReadonlyArray<Router> {
    if (this.routers.length === 1) return this.routers
    const rank = (router: Router): number => {
      const lost = this.lostAt.get(router)
      if (lost !== undefined && now - lost < restMillis) return 2
      return router === this.current ? 0 : 1
    }
    return this.routers.toSorted((a, b) => rank(a) - rank(b))
  }

  /** A connection to it was made, or has been used again. */
  reached(router: Router): void {
    this.current = router
    this.lostAt.delete(router)
  }

  /** No connection to it could be made. */
  lost(router: Router, now: number): void {
    this.lostAt.set(router, now)
  }

  close(): void {
    for (const { agent } of this.routers) agent.destroy()
  }
}
