ALTER TABLE "carts" ADD COLUMN "accepts_marketing" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "carts" ADD COLUMN "reminded_at" bigint;--> statement-breakpoint
ALTER TABLE "carts" ADD COLUMN "restored_at" bigint;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "from_abandoned_cart" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "shop_mail" ADD COLUMN "abandoned_cart_mail" text;--> statement-breakpoint
CREATE INDEX "carts_abandoned" ON "carts" USING btree ("shop_id","updated_at") WHERE status = 'OPEN' and email is not null and draft is null;--> statement-breakpoint
CREATE INDEX "carts_restored" ON "carts" USING btree ("shop_id","restored_at") WHERE restored_at is not null;