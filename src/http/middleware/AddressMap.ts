/** One entry for each network address that called recently. At most `most` entries are kept; the one idle longest is dropped. */
export class AddressMap<V> {
  /** Sorted by last request, the newest last. */
  private readonly entries = new Map<string, V>()
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  get size(): number {
    return this.entries.size
  }

  /** The entry of a network that calls now, made if it has none. */
  take(network: string, make: () => V): V {
    const entry = this.entries.get(network) ?? make()
    this.entries.delete(network)
    if (this.entries.size >= this.most) {
      const [idlest] = this.entries.keys()
      if (idlest !== undefined) this.entries.delete(idlest)
    }
    this.entries.set(network, entry)
    return entry
  }
}
