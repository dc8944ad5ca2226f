export type { MethodologyDeps } from './parts.ts'
export {
  listMethodologies,
  publicLender,
  publicMethodology,
  readMethodology,
  registerMethodology,
  revokeMethodology,
} from './service.ts'
