/**
 * Finds the venue time up to which every published event is taken. A heartbeat names the venue's last event at its
 * time. Once that event is taken, all events up to that time are (A2-59).
 */
import type { VenueHeartbeat } from "../../../machines/venue/VenueEvent.ts"

export class TakenTime {
  /** The oldest and the newest heartbeat with events that are not taken yet. */
  private readonly beats: Array<VenueHeartbeat> = []

  heartbeat(beat: VenueHeartbeat): void {
    this.beats.splice(1, 1, beat)
  }

  /** Drops the heartbeats of an ended connection. */
  forget(): void {
    this.beats.length = 0
  }

  /** The latest time reached since the last call, Unix ms. Null: no new time is reached. */
  reached(isTaken: (number: number) => boolean): number | null {
    let at: number | null = null
    for (let first = this.beats[0]; first !== undefined && isTaken(first.number); first = this.beats[0]) {
      at = first.at
      this.beats.shift()
    }
    return at
  }
}
