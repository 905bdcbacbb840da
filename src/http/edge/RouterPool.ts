/**
 * The routers of an edge, and the idle connections to each. One router is used while it is reachable. After a failed
 * connection the next one is used, and the failed one becomes the last choice for a while. The routers share one writer, so
 * the others are a failover and not a load balancer.
 */
import { Agent } from "node:https"

export interface Router {
  readonly url: string
  readonly hostname: string
  readonly port: number
  /** Host and port of the router, sent as the Host header. */
  readonly host: string
  readonly agent: Agent
}

/** An unreachable router is the last choice for this long, milliseconds. */
const restMillis = 1_000
/** Limit on idle connections to one router. The limit on requests in flight bounds the connections in use. */
const spareConnections = 256

/** Parses a router's address: https, a host and an optional port, without path or query. Null for any other text. */
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

  /** `ca`: PEM text of the authority that signed the routers' certificates; null for the public ones. */
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

  /** All routers, in the order in which the edge tries them. `now`: wall milliseconds. */
  order(now: number): ReadonlyArray<Router> {
    if (this.routers.length === 1) return this.routers
    const rank = (router: Router): number => {
      const lost = this.lostAt.get(router)
      if (lost !== undefined && now - lost < restMillis) return 2
      return router === this.current ? 0 : 1
    }
    return this.routers.toSorted((a, b) => rank(a) - rank(b))
  }

  /** Records that a connection to the router was made or reused, so that the router is the first choice from now on. */
  reached(router: Router): void {
    this.current = router
    this.lostAt.delete(router)
  }

  /** Records that no connection to the router could be made, so that the router is the last choice for a while. */
  lost(router: Router, now: number): void {
    this.lostAt.set(router, now)
  }

  close(): void {
    for (const { agent } of this.routers) agent.destroy()
  }
}
