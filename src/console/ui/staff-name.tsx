import type { ComponentChildren } from 'preact'
import { api, ok, type Schema } from '../lib/api/api.ts'
import { useResource } from '../lib/api/resource.ts'
import { truncate } from '../lib/format/truncate.ts'
import { common } from '../lib/i18n/common.ts'
import { isOwner, shop } from '../lib/session/current-shop.ts'
import { myId } from '../lib/session/session.ts'

/** Returns a staff member's name, or e-mail address. */
export const staffName = ({ name, email }: Pick<Schema<'Staff'>, 'name' | 'email'>): string => truncate(name || email, 120)

/**
 * Shows names of staff by id. Only owners may read the staff list; others see ids, and everyone sees "you".
 * @param ids ids to show, so that the list is read only if needed
 * @returns shows one id
 */
export function useStaffNames(ids: readonly string[]): (id: string) => ComponentChildren {
  const needsList = isOwner.value && ids.some((id) => id !== myId() && id !== 'system')
  const staff = useResource(needsList ? (shop.value?.id ?? '') : '', async (signal) =>
    needsList ? (await ok(api.GET('/shops/v2/staff', { params: { query: { limit: 100 } }, signal }))).data : [],
  )
  return (id) => {
    if (id === myId()) return common('you')
    if (id === 'system') return common('bySystem')
    const found = staff.data.value?.find(({ userId }) => userId === id)
    return found ? <bdi>{staffName(found)}</bdi> : <code>{id}</code>
  }
}
