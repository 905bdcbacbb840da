/** Items in the order of their places. Items of one place keep the order in which they were added. */
export class Places<Item> {
  readonly items: Array<Item> = []
  private readonly places: Array<number> = []

  add(item: Item, place: number): void {
    const at = this.places.findLastIndex((earlier) => earlier <= place) + 1
    this.places.splice(at, 0, place)
    this.items.splice(at, 0, item)
  }
}
