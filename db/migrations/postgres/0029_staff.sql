CREATE TABLE "staff" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C",
	"email" text COLLATE "C",
	"name" text COLLATE "C",
	"role" text COLLATE "C" NOT NULL,
	"by_link" boolean DEFAULT false NOT NULL,
	"invited_at" bigint,
	"joined_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "staff_user_shop" ON "staff" USING btree ("user_id","shop_id") WHERE user_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "staff_shop_email" ON "staff" USING btree ("shop_id","email") WHERE email is not null;--> statement-breakpoint
CREATE INDEX "staff_shop" ON "staff" USING btree ("shop_id","id");--> statement-breakpoint
-- by hand:
INSERT INTO "staff" ("id", "shop_id", "user_id", "role", "joined_at", "created_at", "updated_at")
SELECT 'staff_' || substr("id", 6), "id", "merchant_id", 'OWNER', "created_at", "created_at", "created_at" FROM "shops";
