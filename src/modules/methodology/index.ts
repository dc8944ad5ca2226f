export type { MethodologyDeps } from './parts.ts'
export {
  changeMethodology,
  listMethodologies,
  publicLender,
  publicMethodology,
  readMethodology,
  registerMethodology,
} from './service.ts'
