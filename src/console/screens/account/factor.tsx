import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, fetchWithoutRetry, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { sessionStatus } from '../../lib/session/session.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'
import { QrCode } from './qr-code.tsx'

type PendingTotp = Schema<'TotpSetup'>

/** At this count the page warns: without codes a lost phone locks the person out. */
const lowCodeCount = 3

/** Sets up and turns off the second factor. */
export function SecondFactor({ totp: { enabled, recoveryCodesLeft }, onChanged }: { totp: Schema<'Totp'>; onChanged: () => unknown }) {
  const [pendingSetup, setPendingSetup] = useState<PendingTotp | undefined>(undefined)
  const [codes, setCodes] = useState<readonly string[] | undefined>(undefined)
  const [isStarting, setStarting] = useState(false)
  const [isTurningOff, setTurningOff] = useState(false)
  const [codesWereMissed, setCodesWereMissed] = useState(false)
  async function showRecoveryCodes(recoveryCodes: readonly string[]): Promise<void> {
    setPendingSetup(undefined)
    setCodes(recoveryCodes)
    await onChanged()
  }
  /** The factor was turned on already, by a lost response or elsewhere, or the setup expired. */
  async function handleRefusedSetup(error: ApiError): Promise<void> {
    showError(error)
    setPendingSetup(undefined)
    setCodesWereMissed(true)
    await onChanged()
  }
  return (
    <>
      {codes && (
        <SecretOnce
          title={t('recovery')}
          text={t('recoveryText')}
          secret={codes}
          confirmText={t('recoveryKept')}
          onConfirm={() => setCodes(undefined)}
        />
      )}
      <Section
        title={t('factor')}
        hint={t('factorHint')}
        actions={<StatusBadge status={enabled ? 'ACTIVE' : 'DISABLED'} text={t(enabled ? 'factorOn' : 'factorOff')} />}
      >
        {pendingSetup ? (
          <ConfirmCode
            setup={pendingSetup}
            onConfirmed={showRecoveryCodes}
            onRefused={handleRefusedSetup}
            onCancel={() => setPendingSetup(undefined)}
          />
        ) : enabled ? (
          <>
            {codesWereMissed && <Note tone="bad">{t('missed')}</Note>}
            {recoveryCodesLeft <= lowCodeCount ? (
              <Note tone="warn">{t('fewLeft', { n: recoveryCodesLeft })}</Note>
            ) : (
              <p>{t('codesLeft', { n: recoveryCodesLeft })}</p>
            )}
            <div class="row">
              <Button kind="danger" onPress={() => setTurningOff(true)} text={t('turnOff')} />
            </div>
          </>
        ) : (
          <div class="row">
            <Button onPress={() => setStarting(true)} text={t('begin')} />
          </div>
        )}
      </Section>
      {isStarting && (
        <PasswordDialog
          onClose={() => setStarting(false)}
          onStarted={(secret) => {
            setStarting(false)
            setPendingSetup(secret)
          }}
        />
      )}
      {isTurningOff && (
        <TurnOffDialog
          onClose={() => setTurningOff(false)}
          onDone={async () => {
            setTurningOff(false)
            setCodes(undefined)
            setCodesWereMissed(false)
            await onChanged()
          }}
        />
      )}
    </>
  )
}

/** Asks for the password and starts the setup. */
function PasswordDialog({ onClose, onStarted }: { onClose: () => void; onStarted: (begun: PendingTotp) => void }) {
  const password = useSignal('')
  async function start(): Promise<void> {
    onStarted(await ok(api.POST('/auth/totp', { body: { password: password.value }, cache: 'no-store' })))
  }
  return (
    <FormDialog title={t('beginTitle')} onClose={onClose}>
      <p>{t('beginText')}</p>
      <Form onSubmit={start} submit={t('next')} dirty={password.value !== ''} label={t('beginTitle')}>
        <TextField bind={password} label={t('current')} type="password" max={200} autoComplete="current-password" required />
      </Form>
    </FormDialog>
  )
}

type ConfirmProps = {
  setup: PendingTotp
  onConfirmed: (codes: readonly string[]) => Promise<void>
  /** The setup no longer exists. */
  onRefused: (error: ApiError) => Promise<void>
  onCancel: () => void
}

function ConfirmCode({ setup: { secret, otpauthUri }, onConfirmed, onRefused, onCancel }: ConfirmProps) {
  const code = useSignal('')
  async function confirm(): Promise<void> {
    const body = { code: code.value.replace(/\s/g, '') }
    try {
      const { recoveryCodes } = await ok(api.POST('/auth/totp/confirm', { body, cache: 'no-store', fetch: fetchWithoutRetry }))
      await onConfirmed(recoveryCodes)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      await onRefused(error)
    }
  }
  if (sessionStatus.value === 'locked') return null
  return (
    <Form
      onSubmit={confirm}
      submit={t('confirm')}
      dirty={code.value !== ''}
      label={t('factor')}
      actions={<Button onPress={onCancel} text={common('cancel')} />}
    >
      <Note>{t('secretText')}</Note>
      <QrCode text={otpauthUri} label={t('qrCode')} />
      <FactList
        facts={[
          [t('secret'), <CopyableText key="secret" text={secret} label={t('secret')} />],
          [t('address'), <CopyableText key="address" text={otpauthUri} label={t('address')} />],
        ]}
      />
      <div class="row">
        <ButtonLink href={otpauthUri} kind="quiet" text={t('openApp')} />
      </div>
      <TextField bind={code} label={t('code')} inputMode="numeric" autoComplete="one-time-code" max={64} required code />
    </Form>
  )
}

function TurnOffDialog({ onClose, onDone }: { onClose: () => void; onDone: () => Promise<void> }) {
  const password = useSignal('')
  const code = useSignal('')
  async function turnOff(): Promise<void> {
    const body = { password: password.value, code: code.value.trim() }
    await api.DELETE('/auth/totp', { body, fetch: fetchWithoutRetry })
    notify(t('turnedOff'))
    await onDone()
  }
  return (
    <FormDialog title={t('turnOffTitle')} onClose={onClose}>
      <p>{t('turnOffText')}</p>
      <Form onSubmit={turnOff} submit={t('turnOff')} danger dirty={password.value !== '' || code.value !== ''} label={t('turnOffTitle')}>
        <TextField bind={password} label={t('current')} type="password" max={200} autoComplete="current-password" required />
        <TextField bind={code} label={t('codeOrRecovery')} autoComplete="one-time-code" max={64} required code />
      </Form>
    </FormDialog>
  )
}
