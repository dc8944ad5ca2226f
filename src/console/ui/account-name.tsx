import { pathWith } from '../lib/api/api.ts'
import { truncate } from '../lib/format/truncate.ts'
import { emailOf } from '../lib/session/account-names.ts'
import { operatorPath } from '../lib/session/current-shop.ts'

/** What whoever did something is called, for operators: by their e-mail address, where they have an account; else by their id. */
export function AccountName({ id }: { id: string }) {
  const email = emailOf(id)
  return email === undefined ? <code>{id}</code> : <bdi title={id}>{truncate(email, 120)}</bdi>
}

/** The same, as a way to whatever else they did. */
export const AccountLink = ({ id }: { id: string }) => (
  <a href={pathWith(operatorPath('audit'), { actor: id })}>
    <AccountName id={id} />
  </a>
)
