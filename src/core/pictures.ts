/** The workspace in which uploaded pictures are inspected and resized; `clients/pictures.ts` implements it. */

/** A complete file of the workspace, with its SHA-256 in hex. */
export type WorkspaceFile = { readonly bytes: number; readonly digest: string; chunks(): AsyncGenerator<Uint8Array> }
type RenderedSize = { readonly width: number; readonly height: number } & WorkspaceFile

/** The files of a picture. They exist until `receive` ends. */
export type RenderedPicture = {
  /** The cleaned picture in its original size. */
  readonly original: WorkspaceFile
  /** Smaller versions as WebP, smallest first. */
  readonly sizes: readonly RenderedSize[]
}

/** A picture in the workspace. */
export type UploadedPicture = {
  /** Reads the whole upload into memory. */
  bytes(): Promise<Uint8Array>
  /**
   * Stores the cleaned picture and renders smaller versions, in a separate process of low priority.
   * @param decodes false if this machine cannot decode the format: nothing is rendered
   * @throws RenderFailed
   */
  render(parts: readonly Uint8Array[], how: { readonly decodes: boolean; readonly widths: readonly number[] }): Promise<RenderedPicture>
}

/** A directory in which each upload has a temporary file. */
export type PictureWorkspace = {
  /**
   * Stores an upload, and deletes it when `use` has ended.
   * @throws errors of `chunks`; AppError UNAVAILABLE if the disk is full
   */
  receive<T>(chunks: AsyncIterable<Uint8Array>, use: (picture: UploadedPicture) => Promise<T>): Promise<T>
  /** Deletes files that a crash left, if they are older than `beforeMs`. */
  tidy(beforeMs: number): Promise<void>
}

/** `DAMAGED`: the pixels do not decode. `FAILED`: decoding did not run, so nothing is known. */
export class RenderFailed extends Error {
  override readonly name = 'RenderFailed'
  constructor(
    readonly kind: 'DAMAGED' | 'FAILED',
    readonly detail: string,
  ) {
    super(`a picture was not resized: ${detail}`)
  }
}
