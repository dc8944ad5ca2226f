export { fetchPicture, isExternal, PictureFetchError } from './image-download.ts'
export { type ResolvedImages, recordPictureUses, resolvePictures, withImageUrls, withPictureUrls } from './picture-uses.ts'
export { checkingProviders, type MediaDeps } from './providers.ts'
export { addPicture, baseOf, listPictures, publicPicture, removePicture } from './service.ts'
export {
  countPictureFiles,
  describePictureDifferences,
  findPictureFaults,
  findPictureOfFile,
  removeLeftoverFiles,
} from './stored-pictures.ts'
