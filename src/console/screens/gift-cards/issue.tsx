import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { customerChoice, findCustomers } from '../../lib/api/record-search.ts'
import { timeZone } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { wallTimeText } from '../../lib/format/zoned-time.ts'
import { exampleOf, moneyText } from '../../lib/forms/amounts.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { shop, shopPath } from '../../lib/session/current-shop.ts'
import { sessionStatus } from '../../lib/session/session.ts'
import { useDirty } from '../../lib/session/use-unsaved-changes.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { MoneyField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { PickField } from '../../ui/picker.tsx'
import { cardBody, type FieldErrors, groupCode } from './card.domain.ts'
import { t } from './i18n.ts'

type IssuedCard = Schema<'IssuedGiftCard'>
type ReplacedCard = Pick<Schema<'GiftCard'>, 'last4' | 'balance' | 'expiresAt'>

/**
 * Issues a card and shows its code once.
 * @param customerId preselected customer
 * @param replaced a card whose balance and expiry fill the form
 */
export function IssueDialog({
  customerId,
  replaced,
  onIssued,
  onClose,
}: {
  customerId: string | undefined
  replaced?: ReplacedCard
  onIssued: () => unknown
  onClose: () => void
}) {
  const issued = useSignal<IssuedCard | undefined>(undefined)
  return issued.value ? (
    <FormDialog key="issued" title={t('issuedTitle')} onClose={onClose}>
      <CodeOnce card={issued.value} onClose={onClose} />
    </FormDialog>
  ) : (
    <FormDialog key="issue" title={t(replaced ? 'replace' : 'issue')} onClose={onClose}>
      <IssueForm
        customerId={customerId}
        replaced={replaced}
        onIssued={(card) => {
          issued.value = card
          return onIssued()
        }}
      />
    </FormDialog>
  )
}

function CodeOnce({ card, onClose }: { card: IssuedCard; onClose: () => void }) {
  // Leaving asks first, because the code cannot be shown again.
  useDirty(true, 'secret')
  // The login hides the code.
  if (sessionStatus.value === 'locked') return null
  return (
    <div class="stack">
      <p>
        <Money amount={card.balance} />
      </p>
      <p class="code-once" dir="ltr">
        {groupCode(card.code)}
      </p>
      <CopyableText text={card.code} label={common('code')} />
      <Note tone="warn">{t('once')}</Note>
      <div class="form-actions">
        <Button kind="primary" onPress={onClose} text={t('haveIt')} />
        <ButtonLink href={shopPath('gift-cards', card.id)} text={t('toCard')} />
      </div>
    </div>
  )
}

/**
 * Loads the preselected customer's name while they are selected.
 * @returns the error
 */
function useCustomerName(id: string | undefined, choices: Signal<readonly Choice[]>): Signal<unknown> {
  const error = useSignal<unknown>(undefined)
  useEffect(() => {
    if (!id) return
    const request = new AbortController()
    const isStillSelected = () => !request.signal.aborted && choices.peek()[0]?.id === id
    ok(api.GET('/customer/{customerId}', { params: { path: { customerId: id } }, signal: request.signal })).then(
      (customer) => {
        if (isStillSelected()) choices.value = [customerChoice(customer)]
      },
      (cause: unknown) => {
        if (isStillSelected()) error.value = cause
      },
    )
    return () => request.abort()
  }, [id])
  return error
}

function IssueForm({
  customerId,
  replaced,
  onIssued,
}: {
  customerId: string | undefined
  replaced: ReplacedCard | undefined
  onIssued: (card: IssuedCard) => unknown
}) {
  const currency = shop.value?.currency ?? 'USD'
  const zone = timeZone()
  const draft = useDraft('issue', {
    amount: replaced ? moneyText(replaced.balance) : '',
    expiresAt: wallTimeText(replaced?.expiresAt ?? null, zone),
    note: replaced ? t('replaces', { last4: replaced.last4 }) : '',
  })
  // The card is limited to the customer before their name is loaded.
  const customer = useSignal<readonly Choice[]>(customerId ? [{ id: customerId, text: customerId }] : [])
  const errors = useSignal<FieldErrors>({})
  const sendOnce = useIdempotentSend()
  const nameError = useCustomerName(customerId, customer)
  async function issue() {
    const result = cardBody(draft.values(), { currency, zone, now: serverNow() })
    errors.value = 'errors' in result ? result.errors : {}
    if ('errors' in result) throw new Error(common('checkFields'))
    const body = { ...result.body, customerId: customer.value[0]?.id ?? null }
    const card = await sendOnce(body, (header) => ok(api.POST('/giftcard', { params: { header }, body })))
    draft.reset(draft.values())
    await onIssued(card)
  }
  return (
    <Form onSubmit={issue} submit={t('issueNow')} dirty={draft.isDirty} label={t('issue')}>
      <MoneyField
        bind={draft.fields.amount}
        label={common('amount')}
        currency={currency}
        required
        error={errors.value.amount && t('notAmount', { currency, example: exampleOf(currency) })}
      />
      <TextField
        bind={draft.fields.expiresAt}
        label={common('expires')}
        type="datetime-local"
        hint={t('expiresHint', { zone })}
        error={errors.value.expiresAt && t(errors.value.expiresAt === 'past' ? 'past' : 'notMoment')}
      />
      <PickField bind={customer} max={1} label={t('for')} hint={t('forHint')} find={findCustomers} />
      {nameError.value !== undefined && customer.value[0]?.id === customerId && <ErrorMessage error={nameError.value} />}
      <TextField bind={draft.fields.note} label={common('note')} hint={t('noteHint')} max={500} />
    </Form>
  )
}
