import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { canManage } from '../../lib/session/current-shop.ts'
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
export function Addresses({ customer, onChanged }: { customer: Schema<'Customer'>; onChanged: () => unknown }) {
  const limit = useSignal(pageSize)
  const isAdding = useSignal(false)
  const ids = [...customer.addressIds].reverse().slice(0, limit.value)
  const addresses = useResource(ids.join(' '), (signal) =>
    Promise.all(ids.map((id) => ok(api.GET('/addresses/{id}', { params: { path: { id } }, signal })))),
  )
  async function makeDefault(addressId: string, flags: { isDefaultShipping?: boolean; isDefaultBilling?: boolean }): Promise<void> {
    const params = { path: { customerId: customer.id } }
    await ok(api.POST('/customer/{customerId}/addresses/add', { params, body: { addressId, ...flags } }))
    notify(common('saved'))
    await addresses.reload()
  }
  return (
    <Section
      title={t('addresses')}
      actions={canManage.value && <Button icon="plus" onPress={() => (isAdding.value = true)} text={common('add')} />}
    >
      <ResourceView resource={addresses} lines={2}>
        {(current) =>
          current.length === 0 ? (
            <p class="hint">{t('noAddresses')}</p>
          ) : (
            <ul class="stack">
              {current.map((address) => (
                <li key={address.id}>
                  <Address address={address} />
                  <div class="row">
                    <DefaultAddressBadge
                      isDefault={address.isDefaultShipping}
                      text={t('defaultShipping')}
                      onSetDefault={() => makeDefault(address.id, { isDefaultShipping: true })}
                    />
                    <DefaultAddressBadge
                      isDefault={address.isDefaultBilling}
                      text={t('defaultBilling')}
                      onSetDefault={() => makeDefault(address.id, { isDefaultBilling: true })}
                    />
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </ResourceView>
      {customer.addressIds.length > limit.value && <Button kind="quiet" onPress={() => (limit.value += 20)} text={common('more')} />}
      {isAdding.value && (
        <FormDialog title={t('addAddress')} onClose={() => (isAdding.value = false)}>
          <NewAddress
            customer={customer}
            onCreated={() => {
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
const DefaultAddressBadge = ({ isDefault, text, onSetDefault }: { isDefault: boolean; text: string; onSetDefault: () => Promise<void> }) =>
  isDefault ? (
    <StatusBadge status="DEFAULT" text={text} />
  ) : (
    canManage.value && <Button kind="quiet" onPress={onSetDefault} text={t('makeDefault', { what: text })} />
  )

function NewAddress({ customer, onCreated }: { customer: Schema<'Customer'>; onCreated: () => unknown }) {
  const sendOnce = useIdempotentSend()
  const [form] = useState(() => createAddressForm(null))
  const [isShipping, isBilling] = [useSignal(customer.addressIds.length === 0), useSignal(false)]
  const address = addressOf(form)
  async function create() {
    if (!address?.countryCode) throw new Error(t('countryNeeded'))
    const body = { ...address, isDefaultShipping: isShipping.value, isDefaultBilling: isBilling.value }
    await sendOnce(body, (header) =>
      ok(api.POST('/customer/{customerId}/addresses', { params: { path: { customerId: customer.id }, header }, body })),
    )
    notify(common('saved'))
    await onCreated()
  }
  return (
    <Form onSubmit={create} dirty={address !== null} label={t('addAddress')}>
      <AddressFields form={form} required />
      <CheckField bind={isShipping} label={t('defaultShipping')} />
      <CheckField bind={isBilling} label={t('defaultBilling')} />
    </Form>
  )
}
