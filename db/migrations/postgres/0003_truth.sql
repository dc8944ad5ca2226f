CREATE TABLE "audit_retention" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"until" bigint NOT NULL
);--> statement-breakpoint
CREATE TABLE "stock_history" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"variant_id" text COLLATE "C" NOT NULL,
	"delta" integer NOT NULL,
	"on_hand" integer NOT NULL,
	"reason" text COLLATE "C",
	"actor" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL
);--> statement-breakpoint
ALTER TABLE "order_events" ADD COLUMN "position" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "holds" text COLLATE "C" DEFAULT 'HELD' NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "processor" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "placed_from" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "lease_holder" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "lease_until" bigint;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "lines" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "sent_at" bigint;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "lease_holder" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "lease_until" bigint;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "last_used_at" bigint;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "address" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "agent" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "failing_since" bigint;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "retry_at" bigint;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "disabled_at" bigint;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "disabled_reason" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "affiliates" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "address" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "before" text;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "after" text;--> statement-breakpoint
ALTER TABLE "blogs" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "collections" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "tax_rates_version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "shipping_methods_version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
UPDATE order_events SET position = (SELECT count(*) FROM order_events e WHERE e.order_id = order_events.order_id AND e.id <= order_events.id);--> statement-breakpoint
UPDATE orders SET processor = (SELECT p.processor FROM payments p WHERE p.order_id = orders.id ORDER BY p.id DESC LIMIT 1);--> statement-breakpoint
UPDATE refunds SET sent_at = created_at;--> statement-breakpoint
UPDATE variants SET reserved = reserved - (
  SELECT sum(l.quantity) FROM order_lines l
    JOIN saga_steps r ON r.order_id = l.order_id AND r.step = 'RESERVE_STOCK' AND r.state = 'DONE'
    JOIN saga_steps h ON h.order_id = l.order_id AND h.step = 'HOLD_GIFT_CARDS' AND h.state = 'UNDONE'
  WHERE l.variant_id = variants.id AND l.tracked)
WHERE id IN (
  SELECT l.variant_id FROM order_lines l
    JOIN saga_steps r ON r.order_id = l.order_id AND r.step = 'RESERVE_STOCK' AND r.state = 'DONE'
    JOIN saga_steps h ON h.order_id = l.order_id AND h.step = 'HOLD_GIFT_CARDS' AND h.state = 'UNDONE'
  WHERE l.tracked);--> statement-breakpoint
UPDATE orders SET holds = CASE
  WHEN EXISTS (SELECT 1 FROM saga_steps s WHERE s.order_id = orders.id AND s.step = 'COMMIT_STOCK' AND s.state = 'DONE') THEN 'COMMITTED'
  WHEN EXISTS (SELECT 1 FROM saga_steps s WHERE s.order_id = orders.id AND s.step = 'HOLD_GIFT_CARDS' AND s.state = 'DONE') THEN 'HELD'
  ELSE 'RELEASED' END;--> statement-breakpoint
DELETE FROM outbox WHERE status = 'HELD';--> statement-breakpoint
DROP TABLE "saga_steps" CASCADE;--> statement-breakpoint
DROP INDEX "order_events_order";--> statement-breakpoint
DROP INDEX "orders_shop";--> statement-breakpoint
DROP INDEX "orders_status";--> statement-breakpoint
DROP INDEX "orders_cart";--> statement-breakpoint
ALTER TABLE "stock_history" ADD CONSTRAINT "stock_history_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "order_events_position" ON "order_events" USING btree ("order_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "orders_cart_live" ON "orders" USING btree ("cart_id") WHERE status not in ('EXPIRED', 'CANCELLED');--> statement-breakpoint
CREATE INDEX "orders_created" ON "orders" USING btree ("shop_id","created_at");--> statement-breakpoint
CREATE INDEX "orders_status_number" ON "orders" USING btree ("shop_id","status","number");--> statement-breakpoint
CREATE INDEX "orders_email" ON "orders" USING btree ("shop_id",lower("email"));--> statement-breakpoint
CREATE INDEX "orders_unpaid_from" ON "orders" USING btree ("placed_from") WHERE status = 'PENDING_PAYMENT';--> statement-breakpoint
CREATE INDEX "orders_unpaid_of" ON "orders" USING btree ("shop_id") WHERE status = 'PENDING_PAYMENT';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_lane" ON "webhook_deliveries" USING btree ("endpoint_id","next_at") WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX "orders_cart" ON "orders" USING btree ("cart_id","number");--> statement-breakpoint
CREATE INDEX "stock_history_variant" ON "stock_history" USING btree ("variant_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ("actor","at");--> statement-breakpoint
CREATE INDEX "audit_log_action" ON "audit_log" USING btree ("action","at");--> statement-breakpoint
CREATE INDEX "audit_log_shop" ON "audit_log" USING btree ("shop_id","at");--> statement-breakpoint
CREATE FUNCTION souk_keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM audit_retention WHERE until > OLD.at) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the audit trail cannot be changed or removed' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER audit_log_kept BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION souk_keep_audit_log();--> statement-breakpoint
CREATE TRIGGER audit_log_not_truncated BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_audit_log();
