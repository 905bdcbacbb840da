/**
 * Up to which time of the venue everything that it has published is taken: a heartbeat names the last event of its time, so that
 * time is reached when that event is taken (A2-59).
 */
import type { VenueHeartbeat } from "../../../machines/venue/VenueEvent.ts"

export class TakenTime {
  /** Heartbeats whose events are not all taken: the oldest and the newest. */
  private readonly beats: Array<VenueHeartbeat> = []

  heard(beat: VenueHeartbeat): void {
    this.beats.splice(1, 1, beat)
  }

  /** On a new connection the venue says anew how far it is. */
  forget(): void {
    this.beats.length = 0
  }

  /** The latest time that is reached and was not answered before, Unix ms; null: none. */
  reached(isTaken: (number: number) => boolean): number | null {
    let at: number | null = null
    for (let first = this.beats[0]; first !== undefined && isTaken(first.number); first = this.beats[0]) {
      at = first.at
      this.beats.shift()
    }
    return at
  }
}
