/** Where a picture lies while it is looked at, and made smaller; `clients/pictures.ts` is the bench. */

/** A file of the bench: whole, with SHA-256 of its bytes in hex. */
export type BenchFile = { readonly bytes: number; readonly digest: string; chunks(): AsyncGenerator<Uint8Array> }
export type RenderedSize = { readonly width: number; readonly height: number } & BenchFile

export type Rendered = {
  /** What was put there, as it is. */
  readonly original: BenchFile
  /** Smaller ones, as WebP, the smallest first. */
  readonly sizes: readonly RenderedSize[]
}

/** One picture on the bench. */
export type OnBench = {
  /** What came, whole, in memory. */
  bytes(): Promise<Uint8Array>
  /**
   * Puts a picture down, has its pixels decoded, and makes smaller ones of it; by a process of its own, of a low priority.
   * @param decodes false where its pixels cannot be decoded here: nothing is made of it
   * @throws RenderFailed
   */
  render(parts: readonly Uint8Array[], how: { readonly decodes: boolean; readonly widths: readonly number[] }): Promise<Rendered>
}

export type PictureBench = {
  /**
   * Puts down what comes, and clears the place once `use` has ended.
   * @throws what the chunks throw; AppError UNAVAILABLE when the disk is full
   */
  receive<T>(chunks: AsyncIterable<Uint8Array>, use: (picture: OnBench) => Promise<T>): Promise<T>
  /** Clears what a crash left there, once it is so old. */
  tidy(beforeMs: number): Promise<void>
}

/** `DAMAGED`: the pixels do not decode. `FAILED`: they could not be looked at, and nobody knows. */
export class RenderFailed extends Error {
  override readonly name = 'RenderFailed'
  constructor(
    readonly kind: 'DAMAGED' | 'FAILED',
    readonly detail: string,
  ) {
    super(`a picture was not made smaller: ${detail}`)
  }
}
