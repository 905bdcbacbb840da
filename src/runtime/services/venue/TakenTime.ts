/**
 * Finds the venue time up to which every published event is taken. A heartbeat names the venue's last event at its
 * time. Once that event is taken, all events up to that time are (A2-59).
 */
import type { VenueHeartbeat } from "../../../machines/venue/VenueEvent.ts"

export class TakenTime {
  /** At most two heartbeats that name events not taken yet: the oldest of them and the newest. */
  private readonly beats: Array<VenueHeartbeat> = []

  heartbeat(beat: VenueHeartbeat): void {
    this.beats.splice(1, 1, beat)
  }

  /** Drops the heartbeats of an ended connection. */
  forget(): void {
    this.beats.length = 0
  }

  /** The latest venue time up to which everything is taken, Unix ms; null if it has not advanced since the last call. */
  reached(isTaken: (number: number) => boolean): number | null {
    let at: number | null = null
    for (let first = this.beats[0]; first !== undefined && isTaken(first.number); first = this.beats[0]) {
      at = first.at
      this.beats.shift()
    }
    return at
  }
}
