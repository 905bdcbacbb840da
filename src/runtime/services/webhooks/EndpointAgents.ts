/**
 * Keep-alive connections to endpoints. An agent connects only to the checked addresses that it was created for. It is
 * reused only while the host resolves to exactly these addresses; otherwise another agent with new connections replaces
 * it. So the address check covers every connection (A3-32).
 */
import { Agent } from "node:https"
import { BlockList, type LookupFunction, type Socket } from "node:net"
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls"
import type { CheckedAddress } from "./WebhookAddresses.ts"

/** Limit on the agents; over it the one that was used longest ago is closed. */
const agentLimit = 512
/** Idle connections per endpoint: as many as a partner may have deliveries in flight (A3-34). */
const idlePerAgent = 4
/**
 * The time after which an idle connection is closed, wall clock ms. Many servers close theirs after 5 s and announce
 * that.
 */
const idleMillis = 20_000

/** The fault of a connection to an unchecked address, which is closed before a request is sent. */
export class UncheckedAddress extends Error {
  readonly code = "UNCHECKED_ADDRESS"
}

export interface AgentRequest {
  readonly origin: string
  readonly addresses: ReadonlyArray<CheckedAddress>
  /**
   * True for a host of --allow-webhook-host, where the operator's own certificate authority is trusted besides the public
   * ones.
   */
  readonly exempt: boolean
}

export class EndpointAgents {
  private readonly agents = new Map<string, Agent>()
  private readonly authority: string | null
  private context: SecureContext | null = null

  /** `authority`: PEM of the certificate authority for exempt hosts. */
  constructor(authority: string | null) {
    this.authority = authority
  }

  /** The agent whose connections of this origin go to exactly these addresses; a new one if there is none. */
  get({ origin, addresses, exempt }: AgentRequest): Agent {
    const key = [origin, exempt, ...addresses.map(({ address }) => address).toSorted()].join(" ")
    const found = this.agents.get(key)
    const agent = found ?? this.make(addresses, exempt)
    // Removing and inserting the agent keeps the map in the order of last use.
    this.agents.delete(key)
    this.agents.set(key, agent)
    if (this.agents.size > agentLimit) this.evict()
    return agent
  }

  close(): void {
    for (const agent of this.agents.values()) agent.destroy()
    this.agents.clear()
  }

  private make(addresses: ReadonlyArray<CheckedAddress>, exempt: boolean): Agent {
    const secureContext = exempt ? this.trustOfExempt() : null
    const agent = new Agent({
      keepAlive: true,
      maxFreeSockets: idlePerAgent,
      timeout: idleMillis,
      scheduling: "lifo",
      lookup: lookupOf(addresses),
      autoSelectFamily: addresses.length > 1,
      autoSelectFamilyAttemptTimeout: 2_000,
      rejectUnauthorized: true,
      ...(secureContext === null ? {} : { secureContext })
    })
    const checked = new BlockList()
    for (const { address, family } of addresses) checked.addAddress(address, family === 6 ? "ipv6" : "ipv4")
    const dial = agent.createConnection.bind(agent)
    agent.createConnection = (options, callback) => {
      const socket = dial(options, callback) as Socket
      socket.once("connect", () => {
        const { remoteAddress = "", remoteFamily } = socket
        if (!checked.check(remoteAddress, remoteFamily === "IPv6" ? "ipv6" : "ipv4"))
          socket.destroy(new UncheckedAddress("connected to an address that was not checked"))
      })
      return socket
    }
    return agent
  }

  private trustOfExempt(): SecureContext | null {
    if (this.authority === null) return null
    return (this.context ??= createSecureContext({ ca: [...getCACertificates("default"), this.authority] }))
  }

  private evict(): void {
    for (const [key, agent] of this.agents) {
      if (this.agents.size <= agentLimit) return
      // Connections in use finish their requests. After them the agent is garbage collected.
      closeIdle(agent)
      this.agents.delete(key)
    }
  }
}

/** Closes an agent's idle connections. Connections in use continue. */
export const closeIdle = (agent: Agent): void => {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

/** A lookup that returns the checked addresses for any name, so that no second resolution happens before the connection. */
const lookupOf =
  (addresses: ReadonlyArray<CheckedAddress>): LookupFunction =>
  (_host, options, callback) => {
    const [first] = addresses
    if (first === undefined) callback(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), "")
    else if (options.all === true) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
