DROP INDEX "orders_shop";--> statement-breakpoint
DROP INDEX "orders_status";--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "lines" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
CREATE INDEX "orders_created" ON "orders" USING btree ("shop_id","created_at");--> statement-breakpoint
CREATE INDEX "orders_status_number" ON "orders" USING btree ("shop_id","status","number");--> statement-breakpoint
CREATE INDEX "orders_email" ON "orders" USING btree ("shop_id",lower("email"));