import { pathWith } from '../lib/api/api.ts'
import { truncate } from '../lib/format/truncate.ts'
import { emailOf } from '../lib/session/account-names.ts'
import { operatorPath } from '../lib/session/current-shop.ts'

/** Shows an account's e-mail address, or its id if it has none. For operators. */
export function AccountName({ id }: { id: string }) {
  const email = emailOf(id)
  return email === undefined ? <code>{id}</code> : <bdi title={id}>{truncate(email, 120)}</bdi>
}

/** Links an account's name to its audit rows. */
export const AccountLink = ({ id }: { id: string }) => (
  <a href={pathWith(operatorPath('audit'), { actor: id })}>
    <AccountName id={id} />
  </a>
)
