/** Who did something in a shop. */
import type { ComponentChildren } from 'preact'
import { api, ok, type Schema } from '../lib/api/api.ts'
import { useResource } from '../lib/api/resource.ts'
import { truncate } from '../lib/format/truncate.ts'
import { common } from '../lib/i18n/common.ts'
import { isOwner, shop } from '../lib/session/current-shop.ts'
import { myId } from '../lib/session/session.ts'

/** What somebody who works in a shop is called: by their name, where they said one. */
export const staffName = ({ name, email }: Pick<Schema<'Staff'>, 'name' | 'email'>): string => truncate(name || email, 120)

/**
 * Says who of the shop's people is meant by an id: oneself, and to its owner the others by their names; nobody else is told who works there.
 * @param ids of whoever is about to be shown: who works there is asked for when there is a name to find
 * @returns shows one of them, by the id where no name is known
 */
export function useStaffNames(ids: readonly string[]): (id: string) => ComponentChildren {
  const isAsked = isOwner.value && ids.some((id) => id !== myId() && id !== 'system')
  const staff = useResource(isAsked ? (shop.value?.id ?? '') : '', async (signal) =>
    isAsked ? (await ok(api.GET('/shops/v2/staff', { params: { query: { limit: 100 } }, signal }))).data : [],
  )
  return (id) => {
    if (id === myId()) return common('you')
    if (id === 'system') return common('bySystem')
    const found = staff.data.value?.find(({ userId }) => userId === id)
    return found ? <bdi>{staffName(found)}</bdi> : <code>{id}</code>
  }
}
