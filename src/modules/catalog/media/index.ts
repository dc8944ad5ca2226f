export { fetchPicture, isOutside, NotFetched } from './image-download.ts'
export { noteShown, type ShownPictures, showPictures, withImageAddresses, withPictureAddresses } from './picture-uses.ts'
export { checkingProviders, type MediaDeps, mediaProviders } from './providers.ts'
export {
  addPicture,
  baseOf,
  listPictures,
  publicPicture,
  removePicture,
  type SentPicture,
  takePicture,
} from './service.ts'
export {
  countPictureFiles,
  type PictureFault,
  pictureDifferences,
  pictureFaults,
  pictureWithFile,
  tidyBench,
} from './stored-pictures.ts'
