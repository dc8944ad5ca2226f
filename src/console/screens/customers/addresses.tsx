import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { mayManage } from '../../lib/session/current-shop.ts'
import { Address, AddressFields, addressOf, createAddressForm } from '../../ui/address.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

const pageSize = 6

/** A customer's addresses, newest first, read in pages. */
export function Addresses({ of, onChanged }: { of: Schema<'Customer'>; onChanged: () => unknown }) {
  const many = useSignal(pageSize)
  const isAdding = useSignal(false)
  const ids = [...of.addressIds].reverse().slice(0, many.value)
  const addresses = useResource(ids.join(' '), (signal) =>
    Promise.all(ids.map((id) => ok(api.GET('/addresses/{id}', { params: { path: { id } }, signal })))),
  )
  async function makeDefault(addressId: string, flags: { isDefaultShipping?: boolean; isDefaultBilling?: boolean }): Promise<void> {
    const params = { path: { customerId: of.id } }
    await ok(api.POST('/customer/{customerId}/addresses/add', { params, body: { addressId, ...flags } }))
    notify(common('saved'))
    await addresses.reload()
  }
  return (
    <Section
      title={t('addresses')}
      actions={mayManage.value && <Button icon="plus" onPress={() => (isAdding.value = true)} text={common('add')} />}
    >
      <ResourceView of={addresses} lines={2}>
        {(shown) =>
          shown.length === 0 ? (
            <p class="hint">{t('noAddresses')}</p>
          ) : (
            <ul class="stack">
              {shown.map((one) => (
                <li key={one.id}>
                  <Address of={one} />
                  <div class="row">
                    <DefaultAddressBadge
                      is={one.isDefaultShipping}
                      text={t('defaultShipping')}
                      onMake={() => makeDefault(one.id, { isDefaultShipping: true })}
                    />
                    <DefaultAddressBadge
                      is={one.isDefaultBilling}
                      text={t('defaultBilling')}
                      onMake={() => makeDefault(one.id, { isDefaultBilling: true })}
                    />
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </ResourceView>
      {of.addressIds.length > many.value && <Button kind="quiet" onPress={() => (many.value += 20)} text={common('more')} />}
      {isAdding.value && (
        <FormDialog title={t('addAddress')} onClose={() => (isAdding.value = false)}>
          <NewAddress
            of={of}
            onMade={() => {
              isAdding.value = false
              return onChanged()
            }}
          />
        </FormDialog>
      )}
    </Section>
  )
}

/** Marks a default address, or a button that makes it the default. */
const DefaultAddressBadge = ({ is, text, onMake }: { is: boolean; text: string; onMake: () => Promise<void> }) =>
  is ? (
    <StatusBadge of="DEFAULT" text={text} />
  ) : (
    mayManage.value && <Button kind="quiet" onPress={onMake} text={t('makeDefault', { what: text })} />
  )

function NewAddress({ of, onMade }: { of: Schema<'Customer'>; onMade: () => unknown }) {
  const sendOnce = useIdempotentSend()
  const [form] = useState(() => createAddressForm(null))
  const [isShipping, isBilling] = [useSignal(of.addressIds.length === 0), useSignal(false)]
  const typed = addressOf(form)
  async function create() {
    if (!typed?.countryCode) throw new Error(t('countryNeeded'))
    const body = { ...typed, isDefaultShipping: isShipping.value, isDefaultBilling: isBilling.value }
    await sendOnce(body, (header) =>
      ok(api.POST('/customer/{customerId}/addresses', { params: { path: { customerId: of.id }, header }, body })),
    )
    notify(common('saved'))
    await onMade()
  }
  return (
    <Form onSubmit={create} dirty={typed !== null} label={t('addAddress')}>
      <AddressFields of={form} required />
      <CheckField bind={isShipping} label={t('defaultShipping')} />
      <CheckField bind={isBilling} label={t('defaultBilling')} />
    </Form>
  )
}
