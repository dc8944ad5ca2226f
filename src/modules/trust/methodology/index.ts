export type { MethodologyDeps } from './providers.ts'
export {
  changeMethodology,
  listMethodologies,
  publicLender,
  publicMethodology,
  readMethodology,
  registerMethodology,
} from './service.ts'
