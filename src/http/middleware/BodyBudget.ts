// The bound on the memory that bodies still being read may hold, over all connections: caps bound one body, not how many
// arrive at once (architecture 8). Over it a caller is told to come back instead of the process running out of memory.

/** What all bodies may hold together unless told otherwise, bytes. */
export const bodyBytesInFlight = 64 * 1024 * 1024

export class BodyBudget {
  private left: number

  constructor(bytes: number = bodyBytesInFlight) {
    this.left = bytes
  }

  /** Takes bytes of the budget, all or none; whether there were enough left. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.left -= bytes
    return true
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.left += bytes
  }
}
