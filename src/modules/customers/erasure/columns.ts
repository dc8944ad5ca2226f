/**
 * States for every column of every table what an erasure does. `erased`: overwritten, emptied, rewritten without
 * personal data, or the row removed. `kept`: not about a shopper, or needed by the books (numbers, times, amounts, tax,
 * ids).
 * New tables and columns must be added here, and erased ones in tables-store.ts: a test compares this list, the schema
 * and that file.
 */
export type Columns = { readonly kept?: string; readonly erased?: string; readonly rows?: 'removed' }

export const columnsOf = {
  addresses: {
    erased: 'id shop_id customer_id entered_by address is_default_shipping is_default_billing created_at updated_at',
    rows: 'removed',
  },
  affiliate_clicks: { kept: 'id affiliate_id at' },
  affiliates: { kept: 'id shop_id name code rate_bps active created_at updated_at version' },
  // Orders as they are sent to platforms.
  agent_messages: {
    erased: 'id shop_id order_id sequence url body status attempts next_at created_at updated_at',
    rows: 'removed',
  },
  agent_keys: { kept: 'kid shop_id public_key private_key created_at signs_from expires_at' },
  agent_sessions: {
    erased: 'request',
    // `opened_from` is a keyed hash. The id is a secret of the platform.
    kept: 'id shop_id kind cart_id profile is_proven opened_from shown source_id failures canceled_at expires_at created_at updated_at',
  },
  agent_settings: { kept: 'shop_id enabled access policies updated_at version' },
  api_keys: { kept: 'id shop_id kind mode prefix hash scopes sealed public_value created_at last_used_at expires_at' },
  // Hashes, kept for minutes.
  attempts: { kept: 'id bucket at' },
  attestations: { kept: 'chain_id uid schema attester is_of_self block_number block_at revoked_block is_counted is_demo' },
  attested_repayments: { kept: 'chain_id uid repayment_id at' },
  attester_addresses: { kept: 'address registered_at' },
  attester_wallets: { kept: 'id owner owner_id address from_at to_at created_at updated_at version' },
  // Ids and field names. `address` is the network address of a request: kept like the trail (AUDIT_RETENTION_DAYS);
  // sessions of customers for 90 days.
  audit_log: { kept: 'id at actor action subject shop_id request_id address before after' },
  audit_retention: { kept: 'id until' },
  blogs: {
    kept: 'id shop_id slug title excerpt body_html cover_image author tags status published_at created_at updated_at version words',
  },
  cart_gift_cards: { kept: 'cart_id gift_card_id applied_at' },
  cart_lines: { kept: 'id cart_id variant_id quantity unit_price' },
  carts: {
    erased: 'email shipping_address billing_address gift_card_recipient status accepts_marketing',
    kept: 'id shop_id customer_id currency shipping_method affiliate_code affiliate_at discount_code draft shown_discounts shown_total shown_due expires_at created_at updated_at reminded_at restored_at agent',
  },
  chain_backfills: { kept: 'id chain_id address read_to last_block from_at queued_at' },
  chain_checkpoints: { kept: 'chain_id block_number block_hash block_at' },
  chain_syncs: {
    kept: 'chain_id contract start_block counted_to counted_to_hash counted_to_at head target provider synced_at last_error last_error_at halted_because halted_at rescanned_at rescanned_to rescan_end rescan_missing rescan_unknown lease_holder lease_until',
  },
  collection_products: {
    kept: 'collection_id position product_id visible_from vendor type available min_price max_price tag_bits title_key',
  },
  collections: { kept: 'id shop_id handle title description_html image published_at created_at updated_at version' },
  commissions: { kept: 'order_id affiliate_id shop_id currency amount reversed status approves_at created_at updated_at' },
  customer_tags: { erased: 'customer_id tag shop_id', rows: 'removed' },
  // Amounts.
  customer_totals: { kept: 'customer_id currency orders spent live_orders live_spent' },
  credit_note_numbers: { kept: 'shop_id mode last' },
  credit_notes: { kept: 'refund_id order_id shop_id mode number created_at' },
  customers: {
    erased: 'email name phone accepts_marketing note tags password_hash email_proven_at',
    kept: 'id shop_id erased_at created_at updated_at version',
  },
  discount_uses: { erased: 'customer', kept: 'discount_id order_id mode at' },
  discounts: {
    kept: 'id shop_id title code code_key kind value_bps amount min_subtotal currency product_ids collection_ids starts_at ends_at usage_limit per_customer_limit status used created_at updated_at removed_at version',
  },
  disputes: { kept: 'id order_id shop_id payment_id reference amount currency status created_at updated_at' },
  draft_orders: { erased: 'note', kept: 'id shop_id cart_id sends sent_at created_at updated_at version' },
  encryption_keys: { kept: 'version fingerprint created_at retired_at' },
  // Ids and times.
  erasures: { kept: 'customer_id shop_id at order_ids other_ids finished_at listed_at' },
  error_events: { kept: 'fingerprint hour title count last_seen' },
  fulfilments: { erased: 'tracking_number', kept: 'id order_id lines carrier attempt_key created_at updated_at version' },
  fx_rates: { kept: 'day currency usd_per_unit source' },
  // Amounts.
  gift_card_transactions: { kept: 'id gift_card_id kind amount order_id refund_id at' },
  gift_cards: {
    erased: 'note',
    kept: 'id shop_id code_hash last4 currency initial_amount balance expires_at status customer_id created_at updated_at version order_id order_line_id unit refund_id',
  },
  grants: { kept: 'address schema from_at to_at' },
  idempotency_keys: { erased: 'sealed_answer', kept: 'scope key fingerprint attempt lease_until expires_at' },
  ingestions: { kept: 'service_provider_id webhook_id received_at payload' },
  invoices: { erased: 'buyer', kept: 'order_id seller created_at' },
  instance_keys: { kept: 'purpose sealed_key created_at' },
  jobs: { kept: 'name holder beat running_since started_at ended_at duration_ms result error last_runs succeeded_at requested_at' },
  kpi_days: { kept: 'kpi span day key value' },
  kpi_deltas: { kept: 'kpi day id key value' },
  kpi_state: { kept: 'id filled_at' },
  kyb_events: { kept: 'id record_id position type at actor reason' },
  kyb_records: {
    kept: 'id merchant_id status cohort legal_name registration_number country owners reason decided_at created_at updated_at version',
  },
  lender_status_history: { kept: 'id lender_id position status actor at' },
  lenders: { kept: 'id display_name status created_at updated_at version' },
  lending_applications: {
    kept: 'id merchant_id cohort tier status requested_amount_usd requested_term_months purpose_code selected_tier1_partner selected_tier2_partner reason partner_external_ref submitted_at decided_at queued_at created_by created_at updated_at version documentation_completed',
  },
  lending_decisions: { kept: 'id application_id decision assessment envelope rule_version actor at' },
  lending_documents: {
    kept: 'id application_id key store storage_name mime_type size hash original_name sealed_key uploaded_by uploaded_at',
  },
  lending_events: { kept: 'id application_id position type from_status to_status actor subject reason partner_external_ref at' },
  lending_rule_versions: { kept: 'version rules first_used_at' },
  list_blocks: { kept: 'shop_id list last records' },
  listing_anchors: { kept: 'shop_id sort key documents' },
  listing_changes: { kept: 'id shop_id newest_key title_key price_key documents' },
  mails: {
    // `recipient` and `cause` are hashes for quotas, kept for a day.
    erased: 'sealed recipient',
    kept: 'id key shop_id lane template language status attempts next_at expires_at last_error created_at updated_at cause counted_at',
  },
  // Ids, numbers, states and amounts, kept for an hour.
  live_events: { kept: 'id shop_id name data at' },
  mail_texts: { kept: 'shop_id template language subject intro closing version updated_at' },
  media: { kept: 'id shop_id hash created_at' },
  media_sources: { kept: 'shop_id address media_id' },
  media_usage: { kept: 'shop_id pictures bytes' },
  media_uses: { kept: 'media_id product_id' },
  merchant_default_blocks: { kept: 'merchant_id block defaults' },
  merchant_default_days: { kept: 'merchant_id day defaults' },
  merchant_repayment_signals: {
    kept: 'merchant_id total_on_time total_late total_defaults lender_count most_recent_settlement_at updated_at',
  },
  methodologies: { kept: 'id lender_id methodology_version content_hash document_url status registered_at updated_at version' },
  one_time_tokens: { erased: 'hash purpose subject_id shop_id address_hash created_at expires_at used_at', rows: 'removed' },
  operations_answers: { kept: 'kind source as_of body' },
  order_events: { erased: 'detail', kept: 'id order_id position type at actor' },
  order_gift_cards: { kept: 'order_id gift_card_id last4 amount refunded settled_at' },
  // What was bought, as the catalog had it.
  order_lines: {
    kept: 'order_id position id product_id variant_id title variant_title sku quantity unit_price total discount tax_rate_bps tax_rate_hundredths tax_inclusive tax_amount tracked gift_card',
  },
  order_days: { kept: 'shop_id day first last' },
  // Tags by staff may be about the person.
  order_tags: { erased: 'order_id tag shop_id number', rows: 'removed' },
  order_notes: { erased: 'text', kept: 'id order_id actor at' },
  order_numbers: { kept: 'shop_id last' },
  orders: {
    erased: 'email shipping_address billing_address gift_card_recipient tracking_number placed_from tags',
    kept: 'id shop_id number cart_id customer_id currency subtotal discount_total discounts shipping_total tax_total tax_included shipping_tax shipping_tax_hundredths shipping_tax_inclusive gift_card_total total amount_due captured_total refunded_total gift_card_refunded_total mode fx_to_usd status payment_status fulfilment_status shipping_method affiliate_code affiliate_at affiliate_id carrier expires_at resume_at attempts holds processor attempt_key created_at updated_at confirmed_at fulfilled_at version from_abandoned_cart agent',
  },
  outbox: { erased: 'body', kept: 'id key shop_id event status created_at' },
  partnership_lists: { kept: 'id version' },
  partnership_shops: { kept: 'shop_id partnership position' },
  partnerships: { kept: 'name default_card_processor position' },
  payment_messages: {
    kept: 'id processor account_id shop_id message_id payment_id reference processor_references dispute attempts resume_at received_at',
  },
  payment_methods: { kept: 'shop_id methods updated_at version' },
  // References are the processor's names of the payment, for refunds and reconciliation.
  payments: {
    erased: 'sealed_token return_url client_parameters',
    kept: 'id order_id shop_id attempt_key method processor account_id mode processor_reference processor_references amount currency authorized captured refunded status failure_code sent_at asked_at ended_at ask_at lease_holder lease_until created_at updated_at',
  },
  picture_files: { kept: 'hash width height type bytes digest store storage_name' },
  pictures: { kept: 'hash type width height frames bytes created_at' },
  process_starts: { kept: 'id host version revision started_at deployed_at seen_at stopped_at' },
  processor_accounts: {
    kept: 'id shop_id account_id processor mode identity publishable sealed_settings api_url names version checked_at created_at retired_at',
  },
  processor_isolations: { kept: 'processor isolated_at actor' },
  product_documents: {
    kept: 'product_id shop_id document etag visible_from newest_key title_key price_key vendor type available min_price max_price spread tag_bits',
  },
  product_inner_prices: { kept: 'product_id price shop_id' },
  product_summaries: { kept: 'product_id summary' },
  product_tags: {
    kept: 'product_id tag shop_id newest_key title_key price_key visible_from vendor type available min_price max_price',
  },
  products: {
    kept: 'id shop_id handle title description_html vendor type tags status currency options images seo_title seo_description published_at created_at updated_at version created_as kind title_key price_key',
  },
  refresh_tokens: { erased: 'hash session_id created_at expires_at used_at', rows: 'removed' },
  // `settled_reference` is the bank's name of a transfer, needed by the books.
  refunds: {
    erased: 'reason claim_url',
    kept: 'id order_id shop_id payment_id processor processor_reference currency amount gift_card_amount gift_cards lines purpose attempt_key actor status failure_code settled_reference attempts resume_at sent_at lease_holder lease_until created_at updated_at',
  },
  document_stores: { kept: 'kind mark registered_at' },
  repayment_reversals: { kept: 'id repayment_id reason recorded_by recorded_at' },
  repayments: {
    kept: 'id merchant_id lender_id loan_ref outcome amount_usd due_at settled_at dated_at source recorded_by recorded_at reversed_at',
  },
  returns: {
    // Typed reasons; the rest of each line stays.
    erased: 'lines rejection',
    kept: 'id order_id shop_id status requested_by restocked refund_id attempt_key created_at updated_at',
  },
  revocations: { kept: 'chain_id uid attester block_number' },
  sandbox_payments: { kept: 'id token amount currency captured refunded status created_at' },
  sandbox_refunds: { kept: 'id payment_id amount created_at' },
  // Progress of indexing older records.
  search_fills: { kept: 'subject below done' },
  second_factors: { kept: 'user_id sealed_secret created_at confirmed_at last_step recovery_hashes wrong_codes shut_until' },
  service_provider_status_history: { kept: 'id service_provider_id position status actor at' },
  service_providers: {
    kept: 'id display_name archetype status sealed_secret previous_secret_until successful_ingestion_count last_successful_ingestion_at created_at updated_at version',
  },
  sessions: { erased: 'id subject_id role shop_id created_at expires_at revoked_at last_used_at address agent', rows: 'removed' },
  shop_hosts: { kept: 'shop_id host proof created_at verified_at checked_at missing_since version' },
  shop_mail: {
    kept: 'shop_id sender_name reply_to accent_colour background_colour language version updated_at order_mails abandoned_cart_mail',
  },
  shops: {
    kept: 'id merchant_id name title description logo_url currency country mode status contact address origins tax_rates shipping_methods show_quantity strict_provinces return_days pages time_zone legal_name tax_number invoice_note created_at updated_at verified_at version tax_rates_version shipping_methods_version',
  },
  // Staff of the shop.
  staff: { kept: 'id shop_id user_id email name role invited_at joined_at invited_by_mail accepted_by created_at updated_at version' },
  stock_history: { kept: 'id shop_id variant_id delta on_hand reason actor at' },
  trust_counts: { kept: 'name chain_id value' },
  trust_registry: { kept: 'id generation' },
  // Amounts.
  unified_transactions: {
    kept: 'id key kind shop_id order_id processor affiliate_id currency amount usd_per_unit usd_cents at rate_day confirmed',
  },
  users: { kept: 'id role email password_hash created_at' },
  variants: {
    kept: 'id product_id position sku barcode title option_values price has_price compare_at_price cost weight_grams requires_shipping taxable tax_class track_inventory allow_backorder on_hand reserved image_id low_stock_at',
  },
  wallets: { kept: 'shop_id address sealed_key created_at' },
  webhook_deliveries: { kept: 'id endpoint_id outbox_id event status attempts next_at last_status last_error created_at updated_at' },
  webhook_endpoints: {
    kept: 'id shop_id url events sealed_secret created_at removed_at failures failing_since retry_at disabled_at disabled_reason skipped skipped_at',
  },
} as const satisfies Record<string, Columns>

/** Tables that are erased by other means than `erasers`. */
export const erasedElsewhere = {
  idempotency_keys: 'answers are sealed: eraseAnswers of the idempotency module looks into them',
  refresh_tokens: 'they go with their session, by the reference',
} as const satisfies Partial<Record<keyof typeof columnsOf, string>>
