import type { KeptDocument } from '../../../core/documents.ts'
import type { Keyring } from '../../../core/keyring.ts'
import { hashing, openStream, SealBroken, streamKeys } from '../../../lib/sealed-stream.ts'
import type { LendingDocument } from '../application/domain.ts'
import { fileSeal, secretSeal } from './domain.ts'

/** What it takes to open the file of a document, and to know that it is what was handed in. */
export type SealedDocument = Pick<LendingDocument, 'id' | 'applicationId' | 'key' | 'hash' | 'sealedKey'>

/** @throws SealBroken where it does not open, or is not what was handed in */
export async function* contentOf(
  { keyring }: { readonly keyring: Pick<Keyring, 'unseal'> },
  document: SealedDocument,
  file: KeptDocument,
): AsyncGenerator<Uint8Array> {
  const keys = streamKeys(Buffer.from(keyring.unseal(document.sealedKey, secretSeal(document)), 'base64'))
  let hash = ''
  const plain = openStream(keys.seal, fileSeal(document), file.chunks())
  yield* hashing(keys.hash, plain, (told) => {
    hash = told
  })
  if (hash !== document.hash) throw new SealBroken('a document is not what was handed in')
}
