CREATE TABLE "addresses" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"customer_id" text COLLATE "C",
	"entered_by" text COLLATE "C",
	"address" text NOT NULL,
	"is_default_shipping" boolean NOT NULL,
	"is_default_billing" boolean NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "affiliate_clicks" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"affiliate_id" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "affiliates" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"code" text COLLATE "C" NOT NULL,
	"rate_bps" integer NOT NULL,
	"active" boolean NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cart_gift_cards" (
	"cart_id" text COLLATE "C" NOT NULL,
	"gift_card_id" text COLLATE "C" NOT NULL,
	"applied_at" bigint NOT NULL,
	CONSTRAINT "cart_gift_cards_cart_id_gift_card_id_pk" PRIMARY KEY("cart_id","gift_card_id")
);
--> statement-breakpoint
CREATE TABLE "cart_lines" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"cart_id" text COLLATE "C" NOT NULL,
	"variant_id" text COLLATE "C" NOT NULL,
	"quantity" integer NOT NULL,
	"unit_price" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "carts" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"customer_id" text COLLATE "C",
	"currency" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C",
	"shipping_address" text,
	"billing_address" text,
	"shipping_method" text COLLATE "C",
	"affiliate_code" text COLLATE "C",
	"affiliate_at" bigint,
	"shown_total" bigint NOT NULL,
	"shown_due" bigint NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"expires_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "commissions" (
	"order_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"affiliate_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"reversed" bigint NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"approves_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "customer_totals" (
	"customer_id" text COLLATE "C" NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"orders" integer NOT NULL,
	"spent" bigint NOT NULL,
	CONSTRAINT "customer_totals_customer_id_currency_pk" PRIMARY KEY("customer_id","currency")
);
--> statement-breakpoint
CREATE TABLE "fx_rates" (
	"day" text COLLATE "C" NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"usd_per_unit" text COLLATE "C" NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	CONSTRAINT "fx_rates_currency_day_pk" PRIMARY KEY("currency","day")
);
--> statement-breakpoint
CREATE TABLE "gift_card_transactions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"gift_card_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"order_id" text COLLATE "C",
	"refund_id" text COLLATE "C",
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gift_cards" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"code_hash" text COLLATE "C" NOT NULL,
	"last4" text COLLATE "C" NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"initial_amount" bigint NOT NULL,
	"balance" bigint NOT NULL,
	"expires_at" bigint,
	"status" text COLLATE "C" NOT NULL,
	"customer_id" text COLLATE "C",
	"note" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "instance_keys" (
	"purpose" text COLLATE "C" PRIMARY KEY NOT NULL,
	"sealed_key" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_events" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"detail" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_gift_cards" (
	"order_id" text COLLATE "C" NOT NULL,
	"gift_card_id" text COLLATE "C" NOT NULL,
	"last4" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"refunded" bigint NOT NULL,
	"settled_at" bigint,
	CONSTRAINT "order_gift_cards_order_id_gift_card_id_pk" PRIMARY KEY("order_id","gift_card_id")
);
--> statement-breakpoint
CREATE TABLE "order_lines" (
	"order_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"product_id" text COLLATE "C" NOT NULL,
	"variant_id" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"variant_title" text COLLATE "C" NOT NULL,
	"sku" text COLLATE "C",
	"quantity" integer NOT NULL,
	"unit_price" bigint NOT NULL,
	"total" bigint NOT NULL,
	"tax_rate_bps" integer NOT NULL,
	"tax_inclusive" boolean NOT NULL,
	"tax_amount" bigint NOT NULL,
	"tracked" boolean NOT NULL,
	CONSTRAINT "order_lines_order_id_position_pk" PRIMARY KEY("order_id","position")
);
--> statement-breakpoint
CREATE TABLE "order_numbers" (
	"shop_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"last" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"number" integer NOT NULL,
	"cart_id" text COLLATE "C" NOT NULL,
	"customer_id" text COLLATE "C",
	"email" text COLLATE "C" NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"subtotal" bigint NOT NULL,
	"discount_total" bigint NOT NULL,
	"shipping_total" bigint NOT NULL,
	"tax_total" bigint NOT NULL,
	"tax_included" bigint NOT NULL,
	"gift_card_total" bigint NOT NULL,
	"total" bigint NOT NULL,
	"amount_due" bigint NOT NULL,
	"captured_total" bigint NOT NULL,
	"refunded_total" bigint NOT NULL,
	"gift_card_refunded_total" bigint NOT NULL,
	"fx_to_usd" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"payment_status" text COLLATE "C" NOT NULL,
	"fulfilment_status" text COLLATE "C" NOT NULL,
	"shipping_address" text,
	"billing_address" text,
	"shipping_method" text,
	"affiliate_code" text COLLATE "C",
	"affiliate_at" bigint,
	"affiliate_id" text COLLATE "C",
	"tracking_number" text COLLATE "C",
	"carrier" text COLLATE "C",
	"expires_at" bigint NOT NULL,
	"resume_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"confirmed_at" bigint,
	"fulfilled_at" bigint
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"event" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"attempt_key" text COLLATE "C" NOT NULL,
	"method" text COLLATE "C" NOT NULL,
	"processor" text COLLATE "C" NOT NULL,
	"processor_reference" text COLLATE "C",
	"sealed_token" text COLLATE "C",
	"return_url" text COLLATE "C",
	"client_parameters" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"authorized" bigint NOT NULL,
	"captured" bigint NOT NULL,
	"refunded" bigint NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"failure_code" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"payment_id" text COLLATE "C",
	"processor" text COLLATE "C",
	"processor_reference" text COLLATE "C",
	"currency" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"gift_card_amount" bigint NOT NULL,
	"gift_cards" text NOT NULL,
	"reason" text COLLATE "C",
	"purpose" text COLLATE "C" NOT NULL,
	"attempt_key" text COLLATE "C" NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"failure_code" text COLLATE "C",
	"attempts" integer NOT NULL,
	"resume_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "saga_steps" (
	"order_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"step" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"attempts" integer NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "saga_steps_order_id_position_pk" PRIMARY KEY("order_id","position")
);
--> statement-breakpoint
CREATE TABLE "sandbox_payments" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"token" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"captured" bigint NOT NULL,
	"refunded" bigint NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sandbox_refunds" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"payment_id" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "unified_transactions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"processor" text COLLATE "C" NOT NULL,
	"affiliate_id" text COLLATE "C",
	"currency" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"usd_per_unit" text COLLATE "C",
	"usd_cents" bigint,
	"at" bigint NOT NULL,
	"rate_day" text COLLATE "C" NOT NULL,
	"confirmed" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"endpoint_id" text COLLATE "C" NOT NULL,
	"outbox_id" text COLLATE "C" NOT NULL,
	"event" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"attempts" integer NOT NULL,
	"next_at" bigint NOT NULL,
	"last_status" integer,
	"last_error" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"events" text NOT NULL,
	"sealed_secret" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"removed_at" bigint
);
--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "phone" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "accepts_marketing" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "reserved" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "addresses" ADD CONSTRAINT "addresses_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "addresses" ADD CONSTRAINT "addresses_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "addresses" ADD CONSTRAINT "addresses_entered_by_customers_id_fk" FOREIGN KEY ("entered_by") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "affiliate_clicks" ADD CONSTRAINT "affiliate_clicks_affiliate_id_affiliates_id_fk" FOREIGN KEY ("affiliate_id") REFERENCES "public"."affiliates"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "affiliates" ADD CONSTRAINT "affiliates_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cart_gift_cards" ADD CONSTRAINT "cart_gift_cards_cart_id_carts_id_fk" FOREIGN KEY ("cart_id") REFERENCES "public"."carts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cart_gift_cards" ADD CONSTRAINT "cart_gift_cards_gift_card_id_gift_cards_id_fk" FOREIGN KEY ("gift_card_id") REFERENCES "public"."gift_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cart_lines" ADD CONSTRAINT "cart_lines_cart_id_carts_id_fk" FOREIGN KEY ("cart_id") REFERENCES "public"."carts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "carts" ADD CONSTRAINT "carts_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "carts" ADD CONSTRAINT "carts_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commissions" ADD CONSTRAINT "commissions_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commissions" ADD CONSTRAINT "commissions_affiliate_id_affiliates_id_fk" FOREIGN KEY ("affiliate_id") REFERENCES "public"."affiliates"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commissions" ADD CONSTRAINT "commissions_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer_totals" ADD CONSTRAINT "customer_totals_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gift_card_transactions" ADD CONSTRAINT "gift_card_transactions_gift_card_id_gift_cards_id_fk" FOREIGN KEY ("gift_card_id") REFERENCES "public"."gift_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD CONSTRAINT "gift_cards_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD CONSTRAINT "gift_cards_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_events" ADD CONSTRAINT "order_events_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_gift_cards" ADD CONSTRAINT "order_gift_cards_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_gift_cards" ADD CONSTRAINT "order_gift_cards_gift_card_id_gift_cards_id_fk" FOREIGN KEY ("gift_card_id") REFERENCES "public"."gift_cards"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_numbers" ADD CONSTRAINT "order_numbers_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saga_steps" ADD CONSTRAINT "saga_steps_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sandbox_refunds" ADD CONSTRAINT "sandbox_refunds_payment_id_sandbox_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."sandbox_payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "unified_transactions" ADD CONSTRAINT "unified_transactions_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "unified_transactions" ADD CONSTRAINT "unified_transactions_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_webhook_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_outbox_id_outbox_id_fk" FOREIGN KEY ("outbox_id") REFERENCES "public"."outbox"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "addresses_customer" ON "addresses" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "affiliate_clicks_affiliate" ON "affiliate_clicks" USING btree ("affiliate_id","at");--> statement-breakpoint
CREATE INDEX "affiliate_clicks_at" ON "affiliate_clicks" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "affiliates_code" ON "affiliates" USING btree ("shop_id","code");--> statement-breakpoint
CREATE INDEX "affiliates_shop" ON "affiliates" USING btree ("shop_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "cart_lines_variant" ON "cart_lines" USING btree ("cart_id","variant_id");--> statement-breakpoint
CREATE INDEX "carts_expiry" ON "carts" USING btree ("expires_at") WHERE status = 'OPEN';--> statement-breakpoint
CREATE INDEX "carts_over" ON "carts" USING btree ("updated_at") WHERE status <> 'OPEN';--> statement-breakpoint
CREATE INDEX "carts_customer" ON "carts" USING btree ("customer_id","status","created_at");--> statement-breakpoint
CREATE INDEX "commissions_affiliate" ON "commissions" USING btree ("affiliate_id","created_at");--> statement-breakpoint
CREATE INDEX "commissions_due" ON "commissions" USING btree ("status","approves_at");--> statement-breakpoint
CREATE INDEX "gift_card_transactions_card" ON "gift_card_transactions" USING btree ("gift_card_id","id");--> statement-breakpoint
CREATE INDEX "gift_card_transactions_order" ON "gift_card_transactions" USING btree ("order_id");--> statement-breakpoint
CREATE UNIQUE INDEX "gift_cards_code" ON "gift_cards" USING btree ("shop_id","code_hash");--> statement-breakpoint
CREATE INDEX "gift_cards_shop" ON "gift_cards" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "order_events_order" ON "order_events" USING btree ("order_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "orders_number" ON "orders" USING btree ("shop_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "orders_cart" ON "orders" USING btree ("cart_id");--> statement-breakpoint
CREATE INDEX "orders_customer" ON "orders" USING btree ("customer_id","shop_id","id");--> statement-breakpoint
CREATE INDEX "orders_shop" ON "orders" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "orders_status" ON "orders" USING btree ("shop_id","status","id");--> statement-breakpoint
CREATE INDEX "orders_expiry" ON "orders" USING btree ("expires_at") WHERE status = 'PENDING_PAYMENT';--> statement-breakpoint
CREATE INDEX "orders_fulfilled" ON "orders" USING btree ("fulfilled_at") WHERE status = 'FULFILLED';--> statement-breakpoint
CREATE INDEX "orders_resume" ON "orders" USING btree ("resume_at") WHERE resume_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_key" ON "outbox" USING btree ("key");--> statement-breakpoint
CREATE INDEX "outbox_status" ON "outbox" USING btree ("status","id");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_attempt" ON "payments" USING btree ("order_id","attempt_key");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_live" ON "payments" USING btree ("order_id") WHERE status not in ('FAILED', 'VOIDED');--> statement-breakpoint
CREATE INDEX "payments_reference" ON "payments" USING btree ("processor","processor_reference");--> statement-breakpoint
CREATE UNIQUE INDEX "refunds_attempt" ON "refunds" USING btree ("order_id","attempt_key");--> statement-breakpoint
CREATE INDEX "refunds_order" ON "refunds" USING btree ("order_id","id");--> statement-breakpoint
CREATE INDEX "refunds_resume" ON "refunds" USING btree ("resume_at") WHERE resume_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "unified_transactions_key" ON "unified_transactions" USING btree ("key");--> statement-breakpoint
CREATE INDEX "unified_transactions_at" ON "unified_transactions" USING btree ("at");--> statement-breakpoint
CREATE INDEX "unified_transactions_order" ON "unified_transactions" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "unified_transactions_unpriced" ON "unified_transactions" USING btree ("currency","rate_day") WHERE usd_cents is null;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_once" ON "webhook_deliveries" USING btree ("outbox_id","endpoint_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("next_at") WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_shop" ON "webhook_endpoints" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_removed" ON "webhook_endpoints" USING btree ("removed_at") WHERE removed_at is not null;