export { fetchPicture, isOutside, NotFetched } from './fetching.ts'
export {
  countPictureFiles,
  type PictureFault,
  pictureDifferences,
  pictureFaults,
  pictureWithFile,
  tidyBench,
} from './keeping.ts'
export { checkingParts, type MediaDeps, mediaParts } from './parts.ts'
export {
  addPicture,
  baseOf,
  listPictures,
  publicPicture,
  removePicture,
  type SentPicture,
  takePicture,
} from './service.ts'
export { noteShown, type ShownPictures, showPictures, withImageAddresses, withPictureAddresses } from './uses.ts'
