export { fetchPicture, isExternal, PictureFetchError } from './image-download.ts'
export { type ResolvedImages, recordPictureUses, resolvePictures, withImageUrls, withPictureUrls } from './picture-uses.ts'
export { checkingProviders, type MediaDeps, mediaProviders } from './providers.ts'
export {
  addPicture,
  baseOf,
  listPictures,
  type PictureResponse,
  publicPicture,
  removePicture,
  storePicture,
} from './service.ts'
export {
  countPictureFiles,
  describePictureDifferences,
  findPictureFaults,
  findPictureOfFile,
  type PictureFault,
  removeLeftoverFiles,
} from './stored-pictures.ts'
