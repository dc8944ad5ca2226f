import { apiDocumentText } from '../document.ts'

/** `souk openapi`: prints the OpenAPI document. */
export function openapi(): number {
  process.stdout.write(apiDocumentText())
  return 0
}
