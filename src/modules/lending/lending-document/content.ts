import type { StoredDocument } from '../../../core/documents.ts'
import type { Keyring } from '../../../core/keyring.ts'
import { openStream, SealBroken, streamKeys, withHash } from '../../../lib/sealed-stream.ts'
import type { LendingDocument } from '../application/domain.ts'
import { fileSeal, secretSeal } from './domain.ts'

/** The fields that are needed to open and verify the file of a document. */
export type SealedDocument = Pick<LendingDocument, 'id' | 'applicationId' | 'key' | 'hash' | 'sealedKey'>

/**
 * Decrypts a file and verifies its hash at the end.
 * @throws SealBroken if it does not open or its content differs
 */
export async function* openContent(
  { keyring }: { readonly keyring: Pick<Keyring, 'unseal'> },
  document: SealedDocument,
  file: StoredDocument,
): AsyncGenerator<Uint8Array> {
  const keys = streamKeys(Buffer.from(keyring.unseal(document.sealedKey, secretSeal(document)), 'base64'))
  let hash = ''
  const plain = openStream(keys.seal, fileSeal(document), file.chunks())
  yield* withHash(keys.hash, plain, (computed) => {
    hash = computed
  })
  if (hash !== document.hash) throw new SealBroken('the content of a document does not match its hash')
}
